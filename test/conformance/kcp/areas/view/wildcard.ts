// All workspaces at once, through the view of an export.
import { apiBinding, create, get, merge, remove, TABLE, TENANCY, WS, widget } from "../../api.ts";
import { type Ask, area, type Step } from "../../step.ts";
import {
  ALL,
  APIS2_BINDINGS,
  BINDINGS,
  binds,
  bound,
  claim,
  exports,
  GROUP,
  ONE,
  quiet,
  served,
  WIDGETS,
} from "../../view.ts";

const EVERY = `${ALL}${GROUP}/widgets`;
const CHILD = "/clusters/$(child.spec.cluster)";
const CHILD_ONE = "/services/apiexport/$(ws)/widgets/clusters/$(child.spec.cluster)";
const told = {
  tell: ["kind", "apiVersion", "items.metadata.name", "items.metadata.annotations", "metadata.remainingItemCount"],
};
const makes = (at: string, name: string): Ask =>
  create(`${at}${WIDGETS}`, widget(name), { until: { code: 201 }, ...quiet });
const bindsInChild: readonly Step[] = [
  create(
    `${WS}${TENANCY}/workspaces`,
    {
      ...{ apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: "child" } },
      spec: { type: { name: "universal", path: "root" } },
    },
    quiet,
  ),
  get(`${WS}${TENANCY}/workspaces/child`, { until: { body: { status: { phase: "Ready" } } }, ...quiet, as: "child" }),
  create(`${CHILD}${APIS2_BINDINGS}`, apiBinding("widgets"), { until: { code: 201 }, ...quiet }),
  get(`${CHILD}${APIS2_BINDINGS}/widgets`, { until: { body: { status: { phase: "Bound" } } }, ...quiet }),
];
const EVENT = ["type", "object.kind", "object.metadata.name"];

export const viewWildcard = area("view-wildcard", {
  "two workspaces": [
    ...bound(),
    ...bindsInChild,
    makes(WS, "a"),
    makes(CHILD, "b"),
    get(EVERY, {
      until: { body: { items: [{ metadata: { name: "a" } }, { metadata: { name: "b" } }] } },
      tell: ["kind", "apiVersion"],
    }),
    get(EVERY, { headers: TABLE, tell: ["kind", "columnDefinitions.name"] }),
    get(`${EVERY}?limit=1`, { tell: ["kind", "metadata.remainingItemCount"], as: "page" }),
    get(`${EVERY}?limit=1&continue=$(page.metadata.continue)`, { tell: ["kind", "metadata.remainingItemCount"] }),
    get(`${EVERY}?fieldSelector=metadata.name=b`, told),
    get(`${EVERY}?fieldSelector=metadata.namespace=default,metadata.name=a`, told),
    get(`${EVERY}?resourceVersion=0`, { tell: ["kind"] }),
    get(`${EVERY}?resourceVersion=x`),
    get(`${EVERY}:abc`),
    get(`${EVERY}:$(widgets.status.identityHash)`),
    get(`${ONE}${WIDGETS}/b`),
    get(`${CHILD_ONE}${WIDGETS}/b`, { until: { code: 200 }, tell: ["metadata.name", "metadata.annotations"] }),
    create(`${CHILD_ONE}${WIDGETS}`, widget("c"), { tell: ["metadata.name", "metadata.annotations"] }),
    create(
      `${CHILD_ONE}${WIDGETS}`,
      { ...widget("d"), metadata: { name: "d", annotations: { "kcp.io/cluster": "root" } } },
      {
        tell: ["metadata.name", "metadata.annotations"],
      },
    ),
    {
      watch: `${EVERY}?watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&fieldSelector=metadata.name=a`,
      until: { type: "BOOKMARK" },
      tell: EVENT,
    },
    {
      watch: `${EVERY}?watch=true&fieldSelector=metadata.name=b`,
      meanwhile: remove(`${CHILD}${APIS2_BINDINGS}/widgets`),
      until: { type: "DELETED" },
      tell: EVENT,
    },
    get(`${CHILD_ONE}${WIDGETS}`, { until: { code: 403 } }),
  ],
  "is for reading": [
    ...bound([claim("configmaps")]),
    makes(WS, "a"),
    get(`${ALL}${WIDGETS}`),
    get(`${ALL}${WIDGETS}?watch=true`),
    get(`${ALL}${WIDGETS}/a`),
    get(`${EVERY}/a`),
    create(EVERY, widget("b")),
    create(`${ALL}${WIDGETS}`, widget("b")),
    { send: `PUT ${ALL}${WIDGETS}/a`, body: widget("a") },
    merge(`${ALL}${WIDGETS}/a`, { spec: { size: 2 } }),
    merge(`${ALL}${WIDGETS}/a/status`, { status: { ready: true } }),
    remove(`${ALL}${WIDGETS}/a`),
    remove(EVERY),
    get(`${ALL}/api/v1/namespaces/default/configmaps`),
    get(`${ALL}/api/v1/namespaces/default/configmaps/a`),
    create(`${ALL}/api/v1/namespaces/default/configmaps`, {}),
    get(`${ALL}/apis/apis.kcp.io/v1alpha2/apibindings/widgets`),
  ],
  "before anybody has bound it": [
    ...exports({ permissionClaims: [claim("configmaps")] }),
    served(),
    get(EVERY),
    get(`${ALL}/api/v1/configmaps`, { tell: ["kind", "items"] }),
    get(`${ALL}/apis/apis.kcp.io/v1alpha2/apibindings`, { tell: ["kind", "items"] }),
    get(EVERY, { headers: TABLE }),
    get(`${ONE}${WIDGETS}`),
    get(`${ONE}/api/v1/configmaps`),
    get(`${ONE}/apis/apis.kcp.io/v1alpha2/apibindings`),
    get(`${ONE}/apis`, { tell: ["kind"] }),
    ...binds(),
    get(`${ONE}${WIDGETS}`, { until: { code: 200 }, tell: ["kind"] }),
  ],
  "once nobody has it any longer": [
    ...bound(),
    makes(WS, "a"),
    get(EVERY, { until: { body: { items: [{ metadata: { name: "a" } }] } }, tell: ["kind"] }),
    {
      watch: `${EVERY}?watch=true`,
      meanwhile: remove(`${BINDINGS}/widgets`),
      until: { type: "DELETED" },
      tell: EVENT,
    },
    get(`${BINDINGS}/widgets`, { until: { code: 404 } }),
    get(EVERY, { until: { code: 200, body: { items: [] } }, tell: ["kind", "items"] }),
    get(`${ONE}${WIDGETS}`, { until: { code: 403 } }),
  ],
});
