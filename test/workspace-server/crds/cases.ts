// Valid and invalid definitions, on which Kubernetes and this server must agree.
import { type CrdCase, definition, type Json, version, withVersion } from "./definitions.ts";
import { SCHEMA_CASES } from "./schema-cases.ts";

const V2 = { name: "v2", served: true, storage: false, schema: { openAPIV3Schema: { type: "object" } } };
const long = "a".repeat(64);
const protectedOne = (annotations?: Json): Json =>
  definition({
    metadata: { name: "widgets.sub.k8s.io", ...(annotations && { annotations }) },
    spec: { group: "sub.k8s.io" },
  });
const column = (more: Json): Json =>
  withVersion({ additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size", ...more }] });
const scale = (more: Json): Json =>
  withVersion({
    subresources: { scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size", ...more } },
  });
const selectable = (...paths: string[]): Json =>
  withVersion({ selectableFields: paths.map((jsonPath) => ({ jsonPath })), schema: { openAPIV3Schema: FIELDS } });
const FIELDS = {
  type: "object",
  properties: {
    metadata: { type: "object", properties: { name: { type: "string" } } },
    spec: {
      type: "object",
      properties: {
        ...Object.fromEntries([..."abcdefghijk"].map((name) => [name, { type: "string" }])),
        n: { type: "number" },
        list: { type: "array", items: { type: "string" } },
      },
    },
  },
};

export const CASES: readonly CrdCase[] = [
  { name: "as it should be", crd: definition() },
  { name: "another name", crd: definition({ metadata: { name: "things.example.dev" } }) },
  { name: "a name that is none", crd: definition({ metadata: { name: "Widgets.example.dev" } }) },
  { name: "no name", crd: definition({ metadata: { name: undefined } }) },
  { name: "labels that are none", crd: definition({ metadata: { labels: { "a b": "c" } } }) },
  { name: "finalizers that are none", crd: definition({ metadata: { finalizers: ["x"] } }) },
  { name: "no group", crd: definition({ spec: { group: "" } }) },
  {
    name: "a group without dot",
    crd: definition({ spec: { group: "example" }, metadata: { name: "widgets.example" } }),
  },
  { name: "a group that is none", crd: definition({ spec: { group: "Example.dev" } }) },
  { name: "no scope", crd: definition({ spec: { scope: "" } }) },
  { name: "another scope", crd: definition({ spec: { scope: "Galaxy" } }) },
  { name: "no plural", crd: definition({ names: { plural: "" } }) },
  { name: "no kind", crd: definition({ names: { kind: "" } }) },
  {
    name: "names that are none",
    crd: definition({ names: { plural: "Widgets", singular: "Widget", kind: "1W", listKind: "W_" } }),
  },
  {
    name: "short names and categories that are none",
    crd: definition({ names: { shortNames: ["ok", "NO"], categories: ["all", "9"] } }),
  },
  {
    name: "long names",
    crd: definition({ names: { plural: long, singular: long }, metadata: { name: `${long}.example.dev` } }),
  },
  { name: "kind and list kind alike", crd: definition({ names: { listKind: "Widget" } }) },
  { name: "one list kind of its own", crd: definition({ names: { listKind: "Widgets" } }) },
  { name: "no versions", crd: definition({ spec: { versions: [] } }) },
  { name: "no storage version", crd: withVersion({ storage: false }) },
  { name: "two storage versions", crd: definition({ spec: { versions: [version(), { ...V2, storage: true }] } }) },
  {
    name: "two versions of one name",
    crd: definition({ spec: { versions: [version(), { ...version(), storage: false }] } }),
  },
  { name: "two versions", crd: definition({ spec: { versions: [version(), V2] } }) },
  {
    name: "two versions of one schema",
    crd: definition({ spec: { versions: [version(), version({ name: "v2", storage: false })] } }),
  },
  { name: "a version's name that is none", crd: withVersion({ name: "1.0" }) },
  { name: "no schema", crd: withVersion({ schema: undefined }) },
  { name: "an empty schema", crd: withVersion({ schema: {} }) },
  {
    name: "one of two without schema",
    crd: definition({ spec: { versions: [version(), { ...V2, schema: undefined }] } }),
  },
  { name: "a warning without deprecation", crd: withVersion({ deprecationWarning: "old" }) },
  { name: "deprecated", crd: withVersion({ deprecated: true, deprecationWarning: "old, very old" }) },
  { name: "an empty warning", crd: withVersion({ deprecated: true, deprecationWarning: "" }) },
  { name: "a long warning", crd: withVersion({ deprecated: true, deprecationWarning: "x".repeat(257) }) },
  { name: "a warning with a line break", crd: withVersion({ deprecated: true, deprecationWarning: "ä\nb" }) },
  { name: "preserveUnknownFields", crd: definition({ spec: { preserveUnknownFields: true } }) },
  { name: "preserveUnknownFields and a default", crd: definition({ spec: { preserveUnknownFields: false } }) },
  { name: "conversion None", crd: definition({ spec: { conversion: { strategy: "None" } } }) },
  { name: "conversion Magic", crd: definition({ spec: { conversion: { strategy: "Magic" } } }) },
  { name: "conversion without strategy", crd: definition({ spec: { conversion: {} } }) },
  {
    name: "conversion None with a webhook",
    crd: definition({
      spec: {
        conversion: {
          strategy: "None",
          webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://a.dev" } },
        },
      },
    }),
  },
  { name: "a protected group", crd: protectedOne() },
  {
    name: "a protected group, approved",
    crd: protectedOne({ "api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/1" }),
  },
  {
    name: "a protected group, unapproved",
    crd: protectedOne({ "api-approved.kubernetes.io": "unapproved, experimental" }),
  },
  { name: "a protected group, approved by a friend", crd: protectedOne({ "api-approved.kubernetes.io": "a friend" }) },
  { name: "a protected group, approved by a path", crd: protectedOne({ "api-approved.kubernetes.io": "/pull/1" }) },
  { name: "a column", crd: column({ priority: 1, format: "int32", description: "How large." }) },
  { name: "a column without name", crd: column({ name: "" }) },
  { name: "a column without type", crd: column({ type: "" }) },
  { name: "a column of another type", crd: column({ type: "object" }) },
  { name: "a column of another format", crd: column({ format: "int128" }) },
  { name: "a column without path", crd: column({ jsonPath: "" }) },
  { name: "a column whose path has no dot", crd: column({ jsonPath: "spec.size" }) },
  {
    name: "columns of one of two versions",
    crd: definition({
      spec: { versions: [version({ additionalPrinterColumns: [{ name: "A", type: "x", jsonPath: "b" }] }), V2] },
    }),
  },
  { name: "scale", crd: scale({ labelSelectorPath: ".status.selector" }) },
  { name: "scale without paths", crd: scale({ specReplicasPath: "", statusReplicasPath: "" }) },
  {
    name: "scale elsewhere",
    crd: scale({
      specReplicasPath: ".status.size",
      statusReplicasPath: ".spec.size",
      labelSelectorPath: ".metadata.x",
    }),
  },
  {
    name: "scale without dots",
    crd: scale({ specReplicasPath: "spec.size", statusReplicasPath: "status.size", labelSelectorPath: "x" }),
  },
  {
    name: "scale of one of two versions",
    crd: definition({
      spec: {
        versions: [
          version({ subresources: { status: {}, scale: { specReplicasPath: ".x", statusReplicasPath: ".y" } } }),
          V2,
        ],
      },
    }),
  },
  { name: "a selectable field", crd: selectable(".spec.a") },
  { name: "selectable fields that are none", crd: selectable(".spec.zz", "", "spec.a", ".spec.list[0]", ".spec['a']") },
  { name: "selectable fields that may not be", crd: selectable(".metadata.name", ".spec.n", ".spec.list", ".spec") },
  { name: "a selectable field twice", crd: selectable(".spec.a", ".spec.a") },
  { name: "too many selectable fields", crd: selectable(...[..."abcdefghi"].map((name) => `.spec.${name}`)) },
  {
    name: "selectable fields of one of two versions",
    crd: definition({ spec: { versions: [version({ selectableFields: [{ jsonPath: ".spec.nothing" }] }), V2] } }),
  },
  {
    name: "selectable fields of one of two alike",
    crd: definition({
      spec: {
        versions: [
          version({ selectableFields: [{ jsonPath: ".spec.size" }] }),
          version({ name: "v2", storage: false }),
        ],
      },
    }),
  },
  {
    name: "many faults at once",
    crd: definition({
      metadata: { name: "x" },
      spec: { group: "x", scope: "y", versions: [version({ name: "1", storage: false })] },
      names: { kind: "" },
    }),
  },
  ...SCHEMA_CASES,
  { name: "update: nothing", before: definition(), crd: definition() },
  {
    name: "update: another schema",
    before: definition(),
    crd: withVersion({ schema: { openAPIV3Schema: { type: "object" } } }),
  },
  {
    name: "update: a bad schema",
    before: definition(),
    crd: withVersion({ schema: { openAPIV3Schema: { type: "object", properties: { x: {} } } } }),
  },
  { name: "update: another scope", before: definition(), crd: definition({ spec: { scope: "Cluster" } }) },
  { name: "update: another kind", before: definition(), crd: definition({ names: { kind: "Gadget" } }) },
  { name: "update: another list kind", before: definition(), crd: definition({ names: { listKind: "WidgetBag" } }) },
  { name: "update: another plural", before: definition(), crd: definition({ names: { plural: "gadgets" } }) },
  { name: "update: another group", before: definition(), crd: definition({ spec: { group: "example.org" } }) },
  { name: "update: one more version", before: definition(), crd: definition({ spec: { versions: [version(), V2] } }) },
  {
    name: "update: another storage version",
    before: definition(),
    crd: definition({ spec: { versions: [version({ storage: false }), { ...V2, storage: true }] } }),
  },
  {
    name: "update: the stored version gone",
    before: definition(),
    crd: definition({ spec: { versions: [{ ...V2, storage: true }] } }),
  },
  {
    name: "update: preserveUnknownFields",
    before: definition(),
    crd: definition({ spec: { preserveUnknownFields: true } }),
  },
  {
    name: "update: approval lost",
    before: protectedOne({ "api-approved.kubernetes.io": "unapproved" }),
    crd: protectedOne(),
  },
  {
    name: "update: approval otherwise",
    before: protectedOne({ "api-approved.kubernetes.io": "unapproved" }),
    crd: protectedOne({ "api-approved.kubernetes.io": "unapproved, still" }),
  },
];
