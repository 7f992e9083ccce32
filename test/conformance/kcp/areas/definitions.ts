// CustomResourceDefinitions of a workspace.
import { CRDS, crd, create, get, merge, NAMESPACES, remove, TABLE, WS, widget } from "../api.ts";
import { area } from "../step.ts";

const DEFINITIONS = `${WS}${CRDS}`;
const WIDGETS = `${WS}/apis/example.dev/v1/namespaces/default/widgets`;
const ESTABLISHED = { body: { status: { conditions: [{ type: "Established", status: "True" }] } } };
const established = [
  create(DEFINITIONS, crd(), { tell: ["metadata.name"] }),
  get(`${DEFINITIONS}/widgets.example.dev`, { until: ESTABLISHED, tell: ["metadata.name"] }),
];

export const definitions = area("definitions", {
  "one is made, and objects of it": [
    create(DEFINITIONS, crd(), { tell: ["spec", "metadata.annotations"] }),
    get(`${DEFINITIONS}/widgets.example.dev`, { until: ESTABLISHED }),
    get(DEFINITIONS, { headers: TABLE, tell: ["columnDefinitions"] }),
    create(WIDGETS, widget("a"), { until: { code: 201 } }),
    create(WIDGETS, widget("b", { size: 10 })),
    create(WIDGETS, widget("c", { size: 7 })),
    create(WIDGETS, widget("d", { size: "x" })),
    create(`${WIDGETS}?fieldValidation=Strict`, widget("e", { shape: "round" })),
    create(`${WIDGETS}?fieldValidation=Warn`, widget("e", { shape: "round" })),
    create(WIDGETS, widget("A")),
    create(WIDGETS.replace("default", "nowhere"), widget("a")),
    merge(`${WIDGETS}/a`, { spec: { size: 7 } }),
    merge(`${WIDGETS}/a`, { spec: { size: 2 } }),
    merge(`${WIDGETS}/a/status`, { status: { ready: true } }),
    get(WIDGETS, { headers: TABLE, tell: ["columnDefinitions", "rows.cells"] }),
    get(`${WS}/apis/example.dev/v1`),
    get(`${WS}/apis/example.dev`),
    get(`${WS}/apis`, { names: "groups", until: { body: { groups: [{ name: "example.dev" }] } } }),
    get("/clusters/*/apis/example.dev/v1/widgets", { user: "root" }),
    get(`${WS}/apis/example.dev/v1/widgets:abc`),
    remove(`${WIDGETS}/a`),
    remove(`${WIDGETS}/a`),
    remove(`${DEFINITIONS}/widgets.example.dev`, { tell: ["kind", "metadata.name"] }),
    get(`${DEFINITIONS}/widgets.example.dev`, { until: { code: 404 } }),
    get(WIDGETS, { until: { code: 404 } }),
  ],
  "definitions that are none": [
    create(DEFINITIONS, crd({ group: "other.dev" })),
    create(DEFINITIONS, crd({ scope: "Nowhere" })),
    create(DEFINITIONS, crd({}, { plural: "Widgets" })),
    create(DEFINITIONS, crd({ versions: [] })),
    create(DEFINITIONS, crd({ group: "example.k8s.io" })),
    create(DEFINITIONS, crd({ versions: [{ name: "v1", served: true, storage: true }] })),
    create(
      DEFINITIONS,
      crd({
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: { type: "object", "x-kubernetes-validations": [{ rule: "self.nothing == 1" }] },
            },
          },
        ],
      }),
    ),
  ],
  "names that are taken": [
    ...established,
    create(DEFINITIONS, crd()),
    create(
      DEFINITIONS,
      {
        ...crd({}, { plural: "wrongs", singular: "wrong" }),
        metadata: { name: "wrongs.example.dev" },
      },
      { tell: ["metadata.name"] },
    ),
    get(`${DEFINITIONS}/wrongs.example.dev`, {
      until: { body: { status: { conditions: [{ type: "NamesAccepted", status: "False" }] } } },
      tell: ["status"],
    }),
  ],
  "kinds that are there without it": [
    create(DEFINITIONS, {
      ...crd(
        { group: "tenancy.kcp.io" },
        { plural: "workspaces", singular: "workspace", kind: "Workspace", listKind: "WorkspaceList" },
      ),
      metadata: { name: "workspaces.tenancy.kcp.io" },
    }),
    create(DEFINITIONS, {
      ...crd(
        { group: "apis.kcp.io" },
        { plural: "apibindings", singular: "apibinding", kind: "APIBinding", listKind: "APIBindingList" },
      ),
      metadata: { name: "apibindings.apis.kcp.io" },
    }),
  ],
  "objects that have finalizers": [
    ...established,
    create(
      WIDGETS,
      { ...widget("a"), metadata: { name: "a", finalizers: ["example.dev/wait"] } },
      {
        until: { code: 201 },
        tell: ["metadata.finalizers"],
      },
    ),
    remove(`${DEFINITIONS}/widgets.example.dev`, { tell: ["kind"] }),
    get(`${DEFINITIONS}/widgets.example.dev`, {
      until: {
        body: {
          status: { conditions: [{ type: "Terminating", status: "True", reason: "InstanceDeletionInProgress" }] },
        },
      },
      tell: ["status.conditions", "metadata.finalizers"],
    }),
    create(WIDGETS, widget("b")),
    merge(`${WIDGETS}/a`, { metadata: { finalizers: null } }, { tell: ["kind"] }),
    get(`${DEFINITIONS}/widgets.example.dev`, { until: { code: 404 } }),
    get(`${WS}${NAMESPACES}/default`, { tell: ["metadata.name"] }),
  ],
});
