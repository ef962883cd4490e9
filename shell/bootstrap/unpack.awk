BEGIN{for(i=32;i<127;i++)if(i-33&&i-34&&i-39&&i-92)V[sprintf("%c",i)]=n++;n=0}
{s=s $0}
function b(){if(n<1){v=V[substr(s,p,1)]*91+V[substr(s,p+1,1)];p+=2;n=13}n--;v*=2;if(v>8191){v-=8192;return 1}return 0}
function h(t,c){c=1;do c=c*2+b();while(((t,c)in H)<1);return H[t,c]}
function g(y,k,m){if(y<4)return y+1;k=int(y/2)-1;m=2+y%2;while(k-->0)m=m*2+b();return m+1}
END{p=1;q=117;for(t=0;t<2;t++){c=2;for(l=1;l<40;l++){for(i=0;i<q;i++)if(V[substr(s,p+i,1)]==l)H[t,c++]=i;c*=2}p+=q;q=32}while((y=h(0))<116)if(y<96)o=o (y<95?sprintf("%c",y+32):"\n");else{l=g(y-96)+2;o=o substr(o,length(o)-g(h(1))+1,l)}printf"%s",o}
