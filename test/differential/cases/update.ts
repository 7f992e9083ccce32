import { type Topic, topic } from "../step.ts";
import { card, machine, plain } from "./kinds.ts";

const OBJECT = { spec: { text: "one", count: 1 } };
const UID = "7d4a3c70-1111-4222-8333-abcdefabcdef";
const made = plain.make("a", OBJECT, { as: "made" });

export const UPDATE: Topic = topic("update", {
  "an object": [made, plain.change("made", { spec: { text: "two" } }), plain.get("a")],
  "of the cluster": [
    card.make("a", { spec: { text: "1" } }, { as: "made" }),
    card.change("made", { spec: { text: "2" } }),
  ],
  "changing nothing": [made, plain.change("made", {}), plain.get("a")],
  "changing nothing, by another manager": [
    made,
    plain.change("made", {}, { query: "fieldManager=other" }),
    plain.get("a"),
  ],
  "changing labels only": [made, plain.change("made", { metadata: { labels: { a: "b" } } })],
  "changing annotations only": [made, plain.change("made", { metadata: { annotations: { a: "b" } } })],
  "changing data beside spec": [made, plain.change("made", { data: { a: "b" } })],
  "removing the spec": [made, plain.change("made", { spec: null })],
  "by another manager": [
    made,
    plain.change("made", { spec: { text: "two" } }, { query: "fieldManager=other", as: "second" }),
    plain.change("second", { spec: { count: null } }, { query: "fieldManager=third", as: "third" }),
    plain.change("third", { spec: { count: 1 } }),
  ],
  "without managedFields": [made, plain.change("made", { metadata: { managedFields: null }, spec: { text: "two" } })],
  "with managedFields emptied": [
    made,
    plain.change("made", { metadata: { managedFields: [] }, spec: { text: "two" } }, { as: "second" }),
    plain.change("second", { metadata: { managedFields: [{}] } }),
  ],
  stale: [
    made,
    plain.change("made", { spec: { text: "two" } }),
    plain.change("made", { spec: { text: "three" } }),
    plain.get("a"),
  ],
  "stale, changing nothing": [
    made,
    plain.merge("a", { spec: { count: 2 } }),
    plain.change("made", { spec: { count: 2 } }),
  ],
  "without a resourceVersion": [made, plain.put("a", plain.of("a", { spec: { text: "two" } }))],
  "with an empty resourceVersion": [made, plain.put("a", plain.of("a", { metadata: { resourceVersion: "" } }))],
  "with resourceVersion 0": [made, plain.put("a", plain.of("a", { metadata: { resourceVersion: "0" } }))],
  "with a malformed resourceVersion": [made, plain.put("a", plain.of("a", { metadata: { resourceVersion: "abc" } }))],
  "with a resourceVersion from the future": [
    made,
    plain.put("a", plain.of("a", { metadata: { resourceVersion: "999999999" } })),
  ],
  "with its uid": [
    made,
    plain.put(
      "a",
      plain.of("a", { metadata: { uid: "$(made.metadata.uid)", resourceVersion: "$(made.metadata.resourceVersion)" } }),
    ),
  ],
  "with another uid": [
    made,
    plain.put("a", plain.of("a", { metadata: { uid: UID, resourceVersion: "$(made.metadata.resourceVersion)" } })),
    plain.put("a", plain.of("a", { metadata: { uid: UID } })),
  ],
  "with another name": [
    made,
    plain.change("made", { metadata: { name: "b" } }, { name: "a" }),
    plain.change("made", { metadata: { name: null } }, { name: "a" }),
    plain.change("made", { metadata: { name: "" } }, { name: "a" }),
  ],
  "with another namespace": [
    made,
    plain.change("made", { metadata: { namespace: "other" } }),
    plain.change("made", { metadata: { namespace: null }, spec: { text: "two" } }),
  ],
  "of the cluster with a namespace": [
    card.make("a", { spec: { text: "1" } }, { as: "made" }),
    card.change("made", { metadata: { namespace: "ns" } }),
  ],
  "of another kind": [made, plain.change("made", { kind: "Card" })],
  "of another version": [made, plain.change("made", { apiVersion: "oracle.dev/v2" })],
  "without type": [made, plain.change("made", { kind: null }), plain.change("made", { apiVersion: null })],
  "of server's metadata": [
    made,
    plain.change("made", { metadata: { creationTimestamp: "2001-01-01T00:00:00Z" } }, { as: "a" }),
    plain.change("a", { metadata: { generation: 77 } }, { as: "b" }),
    plain.change("b", { metadata: { deletionTimestamp: "2001-01-01T00:00:00Z" } }, { as: "c" }),
    plain.change("c", { metadata: { deletionGracePeriodSeconds: 3 } }, { as: "d" }),
    plain.change("d", { metadata: { selfLink: "/x" } }, { as: "e" }),
    plain.change("e", { metadata: { generateName: "gen-" } }),
    plain.get("a"),
  ],
  "without server's metadata": [
    made,
    plain.put("a", plain.of("a", { ...OBJECT, metadata: { resourceVersion: "$(made.metadata.resourceVersion)" } })),
    plain.put("a", { apiVersion: "oracle.dev/v1", kind: "Plain", metadata: { name: "a" }, spec: {} }),
  ],
  "without metadata": [made, plain.put("a", { apiVersion: "oracle.dev/v1", kind: "Plain", spec: {} })],
  "of what is not there": [
    plain.put("a", plain.of("a", OBJECT)),
    plain.put("a", plain.of("a", { ...OBJECT, metadata: { resourceVersion: "1" } })),
    plain.put("a", plain.of("a", { ...OBJECT, metadata: { uid: UID } })),
    plain.list(),
  ],
  "of what is gone": [made, plain.delete("a"), plain.change("made", { spec: { text: "two" } })],
  "of what was made anew": [
    made,
    plain.delete("a"),
    plain.make("a", OBJECT),
    plain.change("made", { spec: { text: "two" } }),
    plain.change("made", { metadata: { resourceVersion: null } }),
  ],
  "with invalid metadata": [
    made,
    plain.change("made", { metadata: { labels: { "bad key!": "v" } } }),
    plain.change("made", { metadata: { finalizers: ["nodomain"] } }),
    plain.change("made", { metadata: { ownerReferences: [{ kind: "Node" }] } }),
  ],
  dry: [
    made,
    plain.change("made", { spec: { text: "two" } }, { query: "dryRun=All" }),
    plain.get("a"),
    plain.change("made", { spec: { text: "two" } }, { query: "dryRun=None" }),
    plain.put("b", plain.of("b", OBJECT), { query: "dryRun=All" }),
  ],
  "at the path of all": [made, { send: `PUT ${plain.path()}`, body: plain.of("a") }],
  "with status through the main resource": [
    machine.make("m", { spec: { replicas: 1 }, status: { phase: "Running" } }, { as: "made" }),
    machine.change("made", { status: { phase: "Failed" } }, { as: "second" }),
    machine.change("second", { spec: { replicas: 2 }, status: { phase: "Failed" } }),
  ],
});
