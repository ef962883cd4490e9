function v(){return V[substr(s,++q,1)]}
BEGIN{for(i=32;i<127;i++)if(i-33&&i-34&&i-39&&i-92)V[sprintf("%c",i)]=n++;D=567869252041;y=D*91-1;split("1 5 20 60 200",W);h="...."}
{s=s $0}
END{while(q<7)x=x*91+v();for(;;){for(i=1;i<6;i++)K[i]=i substr(h,6-i);for(c=1;c<128;c=c*2+b){m=n=2;for(i=1;i<6;i++){k=K[i] c;m+=N[k,0]*W[i];n+=N[k,1]*W[i]}
z=l+int((y-l)/65536)*int(65536*n/(m+n));b=x<=z;if(b)y=z;else l=z+1
for(i=1;i<6;i++){k=K[i] c;N[k,b]++;if(N[k,1-b]>2)N[k,1-b]=int(N[k,1-b]/2)+1}
while(int(l/D)==int(y/D)){l=l%D*91;y=y%D*91+90;x=x%D*91+v()}}
if(c<130){if(--g<1)break}else{c=sprintf("%c",c-128);o=o c;h=substr(h c,2)}}
printf"%s",o}
