import guideway as gw
# records alias into automatic call with approval
pb={"id":"t","name":"T","inputs":{"to":"array"},"tools":{"pay":{"effect":"irreversible","approval":{"ask":"Pay {{ args.to }}?","approvers":["lead"]}}},
"steps":[{"id":"p","call":{"tool":"pay","args":{"to":"{{ inputs.to }}"}}}]}
m=gw.load(pb); s=gw.Session(m,inputs={"to":["ann"]})
for r in s.records:
    if r[0]=="asked": r[6]["to"][0]="mallory"
a=gw.Approvals(s); q=a.pending[0]; print(q)
print(a.approve(q.approval_id,by="lead").accepted, s.commands)
# step approval + call
pb["tools"]["pay"].pop("approval"); pb["steps"][0]["approval"]={"ask":"Pay?","approvers":["lead"]}
m=gw.load(pb); s=gw.Session(m,inputs={"to":["ann"]})
for r in s.records:
    if r[0]=="asked": r[6]["to"][0]="mallory"
a=gw.Approvals(s); q=a.pending[0]; print(q)
print(a.approve(q.approval_id,by="lead").accepted, s.commands)
# repeat with step approval: second round other args
pb={"id":"t","name":"T","tools":{"pay":{"effect":"irreversible","result":{"type":"object","properties":{"next":{"type":"string"},"done":{"type":"boolean"}}}}},
"steps":[{"id":"p","approval":{"ask":"Pay?","approvers":["lead"]},"call":{"tool":"pay","args":{"to":"{{ default(facts.p.next, 'ann') }}"}},"repeat":{"until":"result.done","at_most":3}}]}
for d in gw.check(pb): print(d.code,d.message)
try:
    m=gw.load(pb); s=gw.Session(m); a=gw.Approvals(s); q=a.pending[0]; print(q)
    print(a.approve(q.approval_id,by="lead").accepted)
    for i in range(3):
        c=s.commands; print(c)
        if c: s.observe(c[0].call_id,gw.Succeeded({"next":"mallory%d"%i,"done":False}))
    print(s.outcome)
except gw.PlaybookError as e: print(e)
# tool approval in repeat
pb["steps"][0].pop("approval"); pb["tools"]["pay"]["approval"]={"ask":"Pay {{ args.to }}?","approvers":["lead"]}
m=gw.load(pb); s=gw.Session(m); a=gw.Approvals(s)
for i in range(3):
    print(a.pending); 
    if a.pending: a.approve(a.pending[0].approval_id,by="lead")
    c=s.commands; print(c)
    if c: s.observe(c[0].call_id,gw.Succeeded({"next":"mallory%d"%i,"done":False}))
# both: step approval AND tool approval
pb["steps"][0]["approval"]={"ask":"Step?","approvers":["x"]}; pb["steps"][0].pop("repeat")
for d in gw.check(pb): print(d.code,d.message)
m=gw.load(pb); s=gw.Session(m); a=gw.Approvals(s)
print(a.pending); a.approve(a.pending[0].approval_id,by="x"); print(a.pending, s.commands)
