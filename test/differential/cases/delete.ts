import { JSON_TYPE, YAML_TYPE } from "../api.ts";
import { type Topic, topic } from "../step.ts";
import { card, machine, plain } from "./kinds.ts";

const UID = "7d4a3c70-1111-4222-8333-abcdefabcdef";
const made = plain.make("a", { spec: { text: "one" } }, { as: "made" });
const kept = plain.make("a", { metadata: { finalizers: ["example.dev/keep"] }, spec: { text: "one" } }, { as: "made" });
const raw = (type: string, text: string) => plain.raw(`DELETE ${plain.path("a")}`, { type, text });

export const DELETE: Topic = topic("delete", {
  "an object": [made, plain.delete("a"), plain.get("a"), plain.list(), plain.delete("a")],
  "of the cluster": [card.make("a", { spec: { text: "x" } }), card.delete("a"), card.get("a")],
  "of what is not there": [plain.delete("a"), plain.delete("a", {}), plain.delete("a", {}, { query: "dryRun=All" })],
  "with options in the body": [
    made,
    plain.delete("a", { gracePeriodSeconds: 0, propagationPolicy: "Background" }),
    plain.get("a"),
  ],
  "with options in the query": [
    made,
    plain.delete("a", undefined, { query: "gracePeriodSeconds=5&propagationPolicy=Background" }),
  ],
  "with a grace period": [
    made,
    plain.delete("a", { gracePeriodSeconds: 30 }),
    plain.get("a"),
    made,
    plain.delete("a", { gracePeriodSeconds: -1 }),
    plain.get("a"),
  ],
  "with malformed options": [
    made,
    plain.delete("a", undefined, { query: "gracePeriodSeconds=soon" }),
    plain.delete("a", { gracePeriodSeconds: "soon" }),
    plain.delete("a", { propagationPolicy: "Never" }),
    plain.delete("a", undefined, { query: "propagationPolicy=Never" }),
    plain.delete("a", { propagationPolicy: "" }),
    made,
    plain.delete("a", { dryRun: ["Some"] }),
    plain.delete("a", { dryRun: "All" }),
    plain.delete("a", undefined, { query: "dryRun=Some" }),
    plain.delete("a", undefined, { query: "orphanDependents=maybe" }),
  ],
  "with both policies": [
    made,
    plain.delete("a", { propagationPolicy: "Orphan", orphanDependents: true }),
    plain.delete("a", { orphanDependents: false }),
    made,
    plain.delete("a", { orphanDependents: true }),
    plain.get("a"),
  ],
  "with options in body and query": [
    made,
    plain.delete("a", { dryRun: ["All"] }, { query: "gracePeriodSeconds=0" }),
    plain.get("a"),
  ],
  "in the foreground": [
    made,
    plain.delete("a", { propagationPolicy: "Foreground" }),
    plain.get("a"),
    plain.delete("a"),
    plain.get("a"),
  ],
  "in the foreground, then finished": [
    made,
    plain.delete("a", { propagationPolicy: "Foreground" }),
    plain.merge("a", { metadata: { finalizers: null } }),
    plain.get("a"),
  ],
  orphaning: [
    made,
    plain.delete("a", { propagationPolicy: "Orphan" }),
    plain.get("a"),
    plain.merge("a", { metadata: { finalizers: [] } }),
    plain.get("a"),
  ],
  "in the foreground, then in the background": [
    made,
    plain.delete("a", { propagationPolicy: "Foreground" }),
    plain.delete("a", { propagationPolicy: "Background" }),
    plain.get("a"),
  ],
  "orphaning, then in the foreground": [
    kept,
    plain.delete("a", { propagationPolicy: "Orphan" }),
    plain.delete("a", { propagationPolicy: "Foreground" }),
    plain.get("a"),
  ],
  "with an orphan finalizer of its own": [
    plain.make("a", { metadata: { finalizers: ["orphan"] } }),
    plain.delete("a"),
    plain.get("a"),
    plain.delete("a", { propagationPolicy: "Background" }),
    plain.get("a"),
  ],
  "on conditions": [
    made,
    plain.delete("a", { preconditions: { uid: UID } }),
    plain.delete("a", { preconditions: { resourceVersion: "999999999" } }),
    plain.delete("a", { preconditions: { uid: UID, resourceVersion: "999999999" } }),
    plain.delete("a", {
      preconditions: { uid: "$(made.metadata.uid)", resourceVersion: "$(made.metadata.resourceVersion)" },
    }),
    plain.get("a"),
  ],
  "on malformed conditions": [
    made,
    plain.delete("a", { preconditions: { uid: 1 } }),
    plain.delete("a", { preconditions: "x" }),
    plain.delete("a", { preconditions: { resourceVersion: "" } }),
  ],
  dry: [
    made,
    plain.delete("a", { dryRun: ["All"] }),
    plain.delete("a", undefined, { query: "dryRun=All" }),
    plain.get("a"),
  ],
  "dry, with finalizers": [kept, plain.delete("a", { dryRun: ["All"] }), plain.get("a")],
  "with a body of another type": [
    made,
    raw(JSON_TYPE, '{"apiVersion":"v1","kind":"DeleteOptions"}'),
    made,
    raw(JSON_TYPE, '{"apiVersion":"oracle.dev/v1","kind":"DeleteOptions","gracePeriodSeconds":0}'),
    made,
    raw(JSON_TYPE, '{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions"}'),
    made,
    raw(JSON_TYPE, "{}"),
    made,
    raw(JSON_TYPE, '{"kind":"Plain","apiVersion":"oracle.dev/v1"}'),
    raw(JSON_TYPE, '{"kind":"DeleteOptions","apiVersion":"other/v1"}'),
    raw(JSON_TYPE, '{"kind":"DeleteOptions"}'),
  ],
  "with a malformed body": [
    made,
    raw(JSON_TYPE, "{"),
    raw(JSON_TYPE, "[]"),
    raw(JSON_TYPE, "null"),
    raw(JSON_TYPE, '"x"'),
    raw("text/plain", "{}"),
    plain.get("a"),
  ],
  "with options in YAML": [
    made,
    raw(YAML_TYPE, "apiVersion: v1\nkind: DeleteOptions\ndryRun: [All]\n"),
    plain.get("a"),
  ],
  "with unknown options": [made, raw(JSON_TYPE, '{"apiVersion":"v1","kind":"DeleteOptions","unknown":1}')],
  "twice, with finalizers": [kept, plain.delete("a"), plain.delete("a"), plain.get("a")],
  "at a path of a subresource": [machine.make("m", { spec: {} }), machine.delete("m", undefined, { sub: "status" })],
});

export const FINALIZERS: Topic = topic("finalizers", {
  "keep an object": [kept, plain.delete("a"), plain.get("a"), plain.list()],
  "keep it with a grace period": [kept, plain.delete("a", { gracePeriodSeconds: 30 }), plain.get("a")],
  "removed by update": [
    kept,
    plain.delete("a", undefined, { as: "deleted" }),
    plain.change("deleted", { metadata: { finalizers: null } }),
    plain.get("a"),
    plain.list(),
  ],
  "removed by a merge patch": [
    kept,
    plain.delete("a"),
    plain.merge("a", { metadata: { finalizers: null } }),
    plain.get("a"),
  ],
  "removed by a JSON patch": [
    kept,
    plain.delete("a"),
    plain.json("a", [{ op: "remove", path: "/metadata/finalizers/0" }]),
    plain.get("a"),
  ],
  "removed one by one": [
    plain.make("a", { metadata: { finalizers: ["example.dev/a", "example.dev/b"] } }),
    plain.delete("a"),
    plain.merge("a", { metadata: { finalizers: ["example.dev/b"] } }),
    plain.get("a"),
    plain.merge("a", { metadata: { finalizers: [] }, spec: { text: "last words" } }),
    plain.get("a"),
  ],
  "added during deletion": [
    kept,
    plain.delete("a"),
    plain.merge("a", { metadata: { finalizers: ["example.dev/keep", "example.dev/more"] } }),
    plain.merge("a", { metadata: { finalizers: ["example.dev/other"] } }),
    plain.get("a"),
  ],
  "removed without deletion": [kept, plain.merge("a", { metadata: { finalizers: null } }), plain.get("a")],
  "updates during deletion": [
    kept,
    plain.delete("a"),
    plain.merge("a", { spec: { text: "two" }, metadata: { labels: { a: "b" } } }),
    plain.merge("a", { metadata: { deletionTimestamp: null } }),
    plain.merge("a", { metadata: { deletionGracePeriodSeconds: 5 } }),
    plain.get("a"),
  ],
  "dry removal during deletion": [
    kept,
    plain.delete("a"),
    plain.merge("a", { metadata: { finalizers: null } }, { query: "dryRun=All" }),
    plain.get("a"),
  ],
  "a create meanwhile": [kept, plain.delete("a"), plain.make("a", { spec: { text: "new" } })],
  "seen in a watch": [
    kept,
    plain.watch("resourceVersion=$(made.metadata.resourceVersion)"),
    plain.delete("a"),
    plain.merge("a", { metadata: { finalizers: null } }),
    { read: "w", events: 2 },
  ],
  "status during deletion": [
    machine.make("m", { metadata: { finalizers: ["example.dev/keep"] }, spec: {} }),
    machine.delete("m"),
    machine.merge("m", { status: { phase: "Failed" } }, { sub: "status" }),
    machine.merge("m", { metadata: { finalizers: null } }, { sub: "status" }),
    machine.get("m"),
  ],
});

const three = ["a", "b", "c"].map((name, at) =>
  plain.make(name, { metadata: { labels: { at: String(at), ...(at === 0 ? { first: "" } : {}) } } }),
);

export const DELETE_COLLECTION: Topic = topic("delete-collection", {
  "all objects": [...three, plain.deleteAll(), plain.list()],
  "of nothing": [plain.deleteAll()],
  "by label": [...three, plain.deleteAll("labelSelector=at=1"), plain.list()],
  "by field": [...three, plain.deleteAll("fieldSelector=metadata.name=b"), plain.list()],
  "by selectors that match nothing": [...three, plain.deleteAll("labelSelector=at=7"), plain.list()],
  "by malformed selectors": [
    ...three,
    plain.deleteAll("labelSelector=!!"),
    plain.deleteAll("fieldSelector=x"),
    plain.deleteAll("fieldSelector=spec.text=x"),
    plain.list(),
  ],
  "one namespace only": [
    ...three,
    plain.make("d", {}, { namespace: "other" }),
    plain.deleteAll(),
    plain.list(undefined, { namespace: "" }),
  ],
  "of all namespaces": [...three, plain.delete("", undefined, { namespace: "" }), plain.list()],
  dry: [
    ...three,
    plain.deleteAll("dryRun=All"),
    plain.list(),
    plain.deleteAll(undefined, { dryRun: ["All"] }),
    plain.list(),
  ],
  "with finalizers": [
    ...three,
    plain.merge("b", { metadata: { finalizers: ["example.dev/keep"] } }),
    plain.deleteAll(),
    plain.list(),
  ],
  "with options": [...three, plain.deleteAll(undefined, { propagationPolicy: "Foreground" }), plain.list()],
  "with malformed options": [
    ...three,
    plain.deleteAll("propagationPolicy=Never"),
    plain.deleteAll(undefined, { gracePeriodSeconds: "x" }),
  ],
  "with a limit": [...three, plain.deleteAll("limit=1"), plain.list()],
  // A list waits until the cache of the oracle has all of them.
  "at a version": [...three, plain.list(), plain.deleteAll("resourceVersion=0")],
  "on conditions": [
    ...three,
    plain.deleteAll(undefined, { preconditions: { uid: "7d4a3c70-1111-4222-8333-abcdefabcdef" } }),
    plain.list(),
  ],
  "of the cluster": [
    card.make("a", { spec: { text: "x", color: "red" } }),
    card.make("b", { spec: { text: "y" } }),
    card.deleteAll("fieldSelector=spec.color=red"),
    card.list(),
  ],
  "in a watch": [
    ...three,
    plain.list(undefined, { as: "list" }),
    plain.watch("resourceVersion=$(list.metadata.resourceVersion)"),
    plain.deleteAll(),
    { read: "w", events: 3 },
  ],
});
