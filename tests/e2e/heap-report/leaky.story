# 10 000 blocks, 9 000 freed, 1 000 of 4 096 bytes leaked by leaky(), a quarter of them every second;
# most is live after three seconds: all of the leak and 5 000 blocks of 50 bytes
fact heap.mode exact
fact heap.allocator glibc
+ k*250 4096 main;work;leaky
at 1000
+ k*250 4096 main;work;leaky
+ a*4000 100 main;work;fine
at 2000
- a*4000
+ k*250 4096 main;work;leaky
at 3000
+ k*250 4096 main;work;leaky
+ b*5000 50 main;work
at 3500
- b*5000
at 4000
