"""Operator infrastructure: entry, signature, dispatch, hooks, comparison mode and accuracy.

An operator calls another one as a program does: `multiply(a, b, memory_config=...)`, by the object that `register`
returned or that `find` returns. The inner call belongs to the outer one:

* Hooks, comparison mode and logging see the outer call only, once. The outer result is compared, with the golden
  function of the outer operator.
* A captured trace records the outer call.
* `queue_id` and `cq_id` of the outer call select the queue of all inner ones.
* The inner call checks its arguments and uses the program cache as any call does; its allocations count at once, so
  the peak of memory and the time of the outer call contain those of the inner ones.

What is called by hooks, too, belongs to the call that they see. Each thread has calls of its own.
"""
