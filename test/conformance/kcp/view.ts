// Setup for cases of kcp's view of APIExports: an export of widgets in the case's workspace, which binds it itself.
import { APIS, APIS2, apiBinding, apiExport, create, get, resourceSchema, WS } from "./api.ts";
import type { Ask, Step } from "./step.ts";

export const VIEW = "/services/apiexport/$(ws)/widgets";
/** All workspaces, and the case's own. */
export const ALL = `${VIEW}/clusters/*`;
export const ONE = `${VIEW}/clusters/$(ws)`;
export const GROUP = "/apis/example.dev/v1";
export const WIDGETS = `${GROUP}/namespaces/default/widgets`;
export const EXPORTS = `${WS}${APIS2}/apiexports`;
export const APIS2_BINDINGS = `${APIS2}/apibindings`;
export const BINDINGS = `${WS}${APIS2_BINDINGS}`;
export const SCHEMAS = `${WS}${APIS}/apiresourceschemas`;

type More = Readonly<Record<string, unknown>>;

export const quiet = { tell: ["metadata.name"] };
export const MATCH_ALL = { matchAll: true };

/** Member of an export's `permissionClaims`. */
export const claim = (resource: string, more: More = {}): More => ({ group: "", resource, verbs: ["*"], ...more });
/** Claim in a binding. @default accepted, for all objects */
export const accepted = (resource: string, more: More = {}): More => ({
  ...claim(resource),
  state: "Accepted",
  selector: MATCH_ALL,
  ...more,
});

/** Creates an export with an identity. */
export const exports = (more: More = {}, schema = resourceSchema()): readonly Ask[] => [
  create(SCHEMAS, schema, quiet),
  create(EXPORTS, apiExport("widgets", more), quiet),
  identified("widgets"),
];
export const identified = (name: string): Ask =>
  get(`${EXPORTS}/${name}`, {
    until: { body: { status: { conditions: [{ type: "IdentityValid", status: "True" }] } } },
    tell: ["metadata.name"],
    as: name,
  });
/** Creates the workspace's own binding to one of its exports. */
export const binds = (claims: readonly More[] = [], name = "widgets"): readonly Ask[] => [
  create(BINDINGS, apiBinding(name, { reference: { export: { path: "$(path)", name } }, permissionClaims: claims }), {
    until: { code: 201 },
    ...quiet,
  }),
  get(`${BINDINGS}/${name}`, {
    until: { body: { status: { phase: "Bound", conditions: [{ type: "PermissionClaimsApplied", status: "True" }] } } },
    tell: ["status.phase"],
  }),
];
/** Waits until the view serves the resource. */
export const served = (at = ALL, group = GROUP, resource = "widgets"): Ask =>
  get(`${at}${group}`, { until: { code: 200, body: { resources: [{ name: resource }] } }, tell: ["groupVersion"] });
/** Waits until the view knows the binding too. */
export const lets = (path = `${GROUP}/widgets`): Ask => get(`${ONE}${path}`, { until: { code: 200 }, tell: ["kind"] });

/** Creates an export that the workspace has bound with claims on these resources, and by default accepts them all. */
export const bound = (
  claims: readonly More[] = [],
  bindingClaims = claims.map((one) => ({ ...one, state: "Accepted", selector: MATCH_ALL })),
): readonly Step[] => [...exports({ permissionClaims: claims }), ...binds(bindingClaims), served(), lets()];
