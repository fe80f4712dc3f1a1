# 10 000 blocks, 9 000 freed, 1 000 of 4 096 bytes leaked by leaky(); most is live after the second second
fact heap.mode exact
fact heap.allocator glibc
+ k*500 4096 main;work;leaky
at 1000
+ k*500 4096 main;work;leaky
+ a*4000 100 main;work;fine
at 2000
- a*4000
at 3000
+ b*5000 50 main;work
at 3500
- b*5000
at 4000
