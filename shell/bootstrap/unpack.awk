function v(){return V[substr(s,++q,1)]}
BEGIN{for(i=32;i<127;i++)if(i-33&&i-34&&i-39&&i-92)V[sprintf("%c",i)]=n++;D=567869252041;y=D*91-1;h="..."}
{s=s $0}
END{while(q<7)x=x*91+v();for(;;){d="a"substr(h,3);e="b"substr(h,2);f="c"h;for(c=1;c<128;){E=d c;F=e c;G=f c
m=2+A[c]+3*A[E]+20*A[F]+150*A[G]
n=2+B[c]+3*B[E]+20*B[F]+150*B[G]
z=l+int((y-l)/65536)*int(65536*n/(m+n))
if(x>z){l=z+1;A[c]++;A[E]++;A[F]++;A[G]++;if(B[c]>2)B[c]=int(B[c]/2)+1;if(B[E]>2)B[E]=int(B[E]/2)+1;if(B[F]>2)B[F]=int(B[F]/2)+1;if(B[G]>2)B[G]=int(B[G]/2)+1;c*=2}else{y=z;B[c]++;B[E]++;B[F]++;B[G]++;if(A[c]>2)A[c]=int(A[c]/2)+1;if(A[E]>2)A[E]=int(A[E]/2)+1;if(A[F]>2)A[F]=int(A[F]/2)+1;if(A[G]>2)A[G]=int(A[G]/2)+1;c=c*2+1}
while(int(l/D)==int(y/D)){l=l%D*91;y=y%D*91+90;x=x%D*91+v()}}
if(c<130){if(--g<1)break}else{c=sprintf("%c",c-128);o=o c;h=substr(h c,2)}}
printf"%s",o}
