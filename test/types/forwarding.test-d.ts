// Misuse of forward() must not compile. If it compiles, the compiler reports its `@ts-expect-error` as unused.
import { forward } from "@virtual-workspaces/forwarding";
import { defineResource, view } from "@virtual-workspaces/framework";

type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Expect<T extends true> = T;

const Memo = defineResource({
  group: "test.dev",
  version: "v1",
  kind: "Memo",
  scope: "Cluster",
  spec: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
});
const Other = defineResource({ group: "test.dev", version: "v1", kind: "Other", scope: "Cluster" });
const there = { resource: Memo, upstream: { url: "https://kubernetes.example:6443" } } as const;

// Forwarded objects can be served, be the source of views, and be written through them.
const memos = forward(there);
export type Text = Expect<Equals<Parameters<typeof memos.create>[1]["spec"]["text"], string>>;
Memo.serve(memos);
Memo.serve(view({ from: memos, select: ({ spec }) => spec.text !== "" }));
Memo.serve(view({ from: memos, mapToSource: (object) => object }));
// @ts-expect-error another kind
Other.serve(memos);

// With a reverse function the resource is writable, without one it is not.
const both = forward({ ...there, transform: { show: (memo) => memo, keep: (memo) => memo } });
Memo.serve(view({ from: both, mapToSource: (object) => object }));
const shown = forward({
  ...there,
  transform: { show: (memo) => ({ ...memo, spec: { text: memo.spec.text.trim() } }) },
});
Memo.serve(view({ from: shown }));
export type NoWayBack = Expect<Equals<undefined extends typeof shown.create ? true : false, true>>;
// @ts-expect-error the way back of a view over what has none
view({ from: shown, mapToSource: (object) => object });

// @ts-expect-error a field that the kind has not
forward({ ...there, transform: { show: (memo) => ({ ...memo, spec: { text: memo.spec.txt } }) } });
// @ts-expect-error an object that is none of the kind
forward({ ...there, transform: { show: (memo) => ({ ...memo, spec: { text: 1 } }) } });
// @ts-expect-error a way back alone
forward({ ...there, transform: { keep: (memo) => memo } });
// @ts-expect-error as somebody of no kind that there is
forward({ ...there, identity: "root" });
// @ts-expect-error no upstream
forward({ resource: Memo });
