// What cases of kcp's view of APIExports begin with: an export of widgets in the case's workspace, which binds it itself.
import { APIS, APIS2, apiBinding, apiExport, create, get, resourceSchema, WS } from "./api.ts";
import type { Ask, Step } from "./step.ts";

export const VIEW = "/services/apiexport/$(ws)/widgets";
/** All workspaces, and the one. */
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

/** A member of an export's `permissionClaims`. */
export const claim = (resource: string, more: More = {}): More => ({ group: "", resource, verbs: ["*"], ...more });
/** A claim as a binding has it. @default of all objects, accepted */
export const accepted = (resource: string, more: More = {}): More => ({
  ...claim(resource),
  state: "Accepted",
  selector: MATCH_ALL,
  ...more,
});

/** An export, with an identity. */
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
/** The workspace's own binding to one of its exports. */
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
/** Once the view has it. */
export const served = (at = ALL, group = GROUP, resource = "widgets"): Ask =>
  get(`${at}${group}`, { until: { code: 200, body: { resources: [{ name: resource }] } }, tell: ["groupVersion"] });
/** Once the view knows of the binding, too. */
export const lets = (path = `${GROUP}/widgets`): Ask => get(`${ONE}${path}`, { until: { code: 200 }, tell: ["kind"] });

/** An export that the workspace has bound with claims on these, all of which it accepts unless told otherwise. */
export const bound = (
  claims: readonly More[] = [],
  bindingClaims = claims.map((one) => ({ ...one, state: "Accepted", selector: MATCH_ALL })),
): readonly Step[] => [...exports({ permissionClaims: claims }), ...binds(bindingClaims), served(), lets()];
