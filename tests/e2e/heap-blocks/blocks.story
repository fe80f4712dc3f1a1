# five blocks, two of them freed, and one whose stack is another
blocks
fact heap.mode exact
+ a 4096 main;work;leaky
at 250
+ b 100 main;work;fine
at 300
- b
+ c 4096 main;work;leaky
+ d 200 main;work;leaky
at 2000
- d
+ e 1 main
