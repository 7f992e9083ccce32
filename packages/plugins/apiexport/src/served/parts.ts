import { type LabelSelector, parseLabelSelector } from "@virtual-workspaces/apimachinery/selectors";
import type { Resource, Verb } from "@virtual-workspaces/framework";
import { type APIExport, APIS_GROUP, clusterOf } from "@virtual-workspaces/kcp";
import { isReview } from "@virtual-workspaces/kcp/apis";
import {
  BINDING_EXPORT_LABEL,
  type ClaimedResource,
  claimLabel,
  exportHash,
  reflexiveLabel,
} from "@virtual-workspaces/kcp/names";
import type { ApiModel } from "../model/api-model.ts";
import type { ExportKey } from "../model/bindings.ts";
import { readableBindings, type SchemaKinds } from "./kinds.ts";

/** Resource of an export's view in one version. */
export interface Part {
  /** Equal keys mean equal service, so the storage is shared. */
  readonly key: string;
  readonly kind: Resource;
  /** Identity of the resource; "" for built-in resources. */
  readonly identity: string;
  /** Selector of the visible objects. @default all */
  readonly labels: LabelSelector | undefined;
  /** Allowed verbs. @default all */
  readonly verbs: readonly Verb[] | undefined;
  /** Whether a claim gives access: then writes must match the binding's selector. */
  readonly claimed: boolean;
}

/** Options of {@link partsOf}. */
export interface PartsOptions {
  readonly model: Pick<ApiModel, "schema" | "exportsOf">;
  readonly kinds: SchemaKinds;
  readonly claimable: ReadonlyMap<string, readonly Resource[]>;
  /** Receives schemas that cannot be served. */
  readonly onError: (error: unknown) => void;
}

type Claim = ClaimedResource & { readonly group?: string };

const READ: readonly Verb[] = ["get", "list", "watch"];
const CREATE: readonly Verb[] = ["create"];
const BINDINGS = `apibindings.${APIS_GROUP}`;
const EVENTS: readonly string[] = ["events.", "events.events.k8s.io"];

/** Returns the resources of an export's view: its own, then the claimed ones, then bindings, which it always sees. */
export function partsOf(exported: APIExport, options: PartsOptions): readonly Part[] {
  const of: ExportKey = { cluster: clusterOf(exported), name: exported.metadata.name ?? "" };
  const own = ownParts(exported, of.cluster, options);
  const taken = new Set(own.map(({ kind }) => nameOf(kind)));
  const claims = (exported.spec?.permissionClaims ?? []) as readonly Claim[];
  const claimed = claims
    .flatMap((claim) => claimedParts(of, claim, options))
    .filter(({ kind }) => !taken.has(nameOf(kind)));
  const seen = new Set([...taken, ...claimed.map(({ kind }) => nameOf(kind))]);
  return once([...own, ...claimed, ...(seen.has(BINDINGS) ? [] : boundParts(of))]);
}

function ownParts({ spec, status }: APIExport, cluster: string, options: PartsOptions): readonly Part[] {
  const identity = status?.identityHash ?? "";
  return (spec?.resources ?? []).flatMap(({ schema: name }) =>
    kindsOf(name, cluster, options).map((kind) => part(kind, { identity })),
  );
}

function kindsOf(name: string, cluster: string, { model, kinds, onError }: PartsOptions): readonly Resource[] {
  const schema = model.schema({ cluster, name });
  if (schema === undefined) return [];
  try {
    return kinds.of(schema);
  } catch (error) {
    onError(new Error(`cannot serve schema ${name} of ${cluster}: ${String(error)}`, { cause: error }));
    return [];
  }
}

function claimedParts(of: ExportKey, claim: Claim, options: PartsOptions): readonly Part[] {
  const { group = "", resource, identityHash = "" } = claim;
  const name = `${resource}.${group}`;
  const labels = labelsOf(of, claim, name === BINDINGS);
  if (identityHash !== "")
    return foreignKinds(claim, options).map((kind) => part(kind, { identity: identityHash, labels, claimed: true }));
  const names = EVENTS.includes(name) ? EVENTS : [name];
  return names
    .flatMap((one) => options.claimable.get(one) ?? [])
    .map((kind) => {
      if (isReview({ group: kind.group, resource: kind.plural })) return part(kind, { verbs: CREATE, claimed: true });
      return part(kind, { labels, claimed: true });
    });
}

/** Returns the kinds of a resource with an identity, from any export with this identity. */
function foreignKinds({ group = "", resource, identityHash = "" }: Claim, options: PartsOptions): readonly Resource[] {
  for (const exported of options.model.exportsOf(identityHash)) {
    const found = exported.spec?.resources?.find((one) => one.group === group && one.name === resource);
    const kinds = found === undefined ? [] : kindsOf(found.schema, clusterOf(exported), options);
    if (kinds.length > 0) return kinds;
  }
  return [];
}

/** Returns read access to the bindings of this export, for an export without a claim on bindings. */
function boundParts(of: ExportKey): readonly Part[] {
  const labels = parseLabelSelector(`${BINDING_EXPORT_LABEL}=${exportHash(of)}`);
  return readableBindings.map((kind) => part(kind, { labels, verbs: READ }));
}

/** Returns the label that the server sets on objects of an accepted claim. */
function labelsOf(of: ExportKey, claim: ClaimedResource, ofBindings: boolean): LabelSelector {
  const { key, value } = claimLabel(of, claim);
  const values = ofBindings ? [value, reflexiveLabel(of).value] : [value];
  return parseLabelSelector(`${key} in (${values.join(",")})`);
}

function part(kind: Resource, more: Partial<Omit<Part, "kind" | "key">>): Part {
  const { identity = "", labels, verbs, claimed = false } = more;
  const key = JSON.stringify([kind.hash, identity, labels?.toString(), verbs, claimed]);
  return { key, kind, identity, labels, verbs, claimed };
}

function nameOf({ plural, group }: Resource): string {
  return `${plural}.${group}`;
}

/** Keeps the first of each resource and version. */
function once(parts: readonly Part[]): readonly Part[] {
  const seen = new Map<string, Part>();
  for (const one of parts) {
    const name = `${nameOf(one.kind)}/${one.kind.version}`;
    if (!seen.has(name)) seen.set(name, one);
  }
  return [...seen.values()];
}
