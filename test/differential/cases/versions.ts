import { type Topic, topic } from "../step.ts";
import { dual, dualAlpha } from "./kinds.ts";

export const VERSIONS: Topic = topic("versions", {
  "one object in two": [
    dual.make("a", { spec: { text: "one" } }, { as: "made" }),
    dualAlpha.get("a", { as: "alpha" }),
    dualAlpha.change("alpha", { spec: { text: "two" } }, { as: "second" }),
    dual.get("a"),
    dual.change("second", { apiVersion: "oracle.dev/v1", spec: { other: "x" } }, { query: "fieldManager=other" }),
    dualAlpha.list(),
    dualAlpha.change("second", { apiVersion: "oracle.dev/v1" }),
    dualAlpha.apply("a", { spec: { text: "three" } }),
    dualAlpha.apply("a", { spec: { text: "three" } }, { query: "force=true" }),
    dualAlpha.delete("a"),
  ],
  "of a create in the other": [
    dualAlpha.make("a", { spec: { text: "one" } }, { as: "made" }),
    dual.get("a", { as: "stored" }),
    dual.change("made", { spec: { text: "two" } }),
    dual.change("stored", { spec: { text: "two" } }, { query: "fieldManager=two" }),
    dualAlpha.get("a"),
  ],
  "of managers": [
    dual.apply("a", { spec: { text: "one" } }, { by: "one" }),
    dualAlpha.apply("a", { spec: { text: "one" } }, { by: "one" }),
    dualAlpha.apply("a", { spec: { other: "x" } }, { by: "two" }),
    dual.apply("a", { spec: { text: "two" } }, { by: "three" }),
    dual.apply("a", { spec: { text: "two" } }, { by: "three", query: "force=true" }),
    dual.apply("a", {}, { by: "two" }),
  ],
  "of patches": [
    dual.make("a", { spec: { text: "one" } }),
    dualAlpha.merge("a", { spec: { text: "two" } }),
    dualAlpha.json("a", [{ op: "replace", path: "/spec/text", value: "three" }]),
    dual.merge("a", { apiVersion: "oracle.dev/v1alpha1", spec: { text: "four" } }),
    dual.get("a"),
  ],
  "of watches": [
    dual.list(undefined, { as: "list" }),
    dualAlpha.watch("resourceVersion=$(list.metadata.resourceVersion)", { as: "alpha" }),
    dual.watch("resourceVersion=$(list.metadata.resourceVersion)"),
    dual.make("a", { spec: { text: "one" } }),
    dualAlpha.merge("a", { spec: { text: "two" } }),
    dualAlpha.delete("a"),
    { read: "w", events: 3 },
    { read: "alpha", events: 3 },
  ],
  "of collections": [
    dual.make("a", { spec: { text: "one" } }),
    dualAlpha.make("b", { spec: { text: "two" } }),
    dualAlpha.list(),
    dual.list(undefined, { headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" } }),
    dualAlpha.deleteAll(),
    dual.list(),
  ],
  "that are not there": [{ send: "GET /apis/oracle.dev/v2/namespaces/ns/duals" }],
});
