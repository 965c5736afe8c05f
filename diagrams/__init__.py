"""
Pictures of a machine, and of a run laid over it.

`build.picture` makes a `Picture` of a definition and perhaps a `walk.Walk`; `dot.dot` and `mermaid.mermaid` write it as
text, `render.render` draws it.  Every picture comes from the tables that run.
"""
