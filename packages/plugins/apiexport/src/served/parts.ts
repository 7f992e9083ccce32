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

/** One resource in one version, as an export's view has it. */
export interface Part {
  /** Equal for what is served equally: then it is the same. */
  readonly key: string;
  readonly kind: Resource;
  /** Whose definition is meant; "" for what every workspace has. */
  readonly identity: string;
  /** The only objects that are there. @default all */
  readonly labels: LabelSelector | undefined;
  /** @default all */
  readonly verbs: readonly Verb[] | undefined;
  /** Whether it is there by a claim: then the binding's selector holds for what is written. */
  readonly claimed: boolean;
}

/** What the parts of exports are made from. */
export interface PartsOptions {
  readonly model: Pick<ApiModel, "schema" | "exportsOf">;
  readonly kinds: SchemaKinds;
  readonly claimable: ReadonlyMap<string, readonly Resource[]>;
  /** Told of schemas that nothing can be made of. */
  readonly onError: (error: unknown) => void;
}

type Claim = ClaimedResource & { readonly group?: string };

const READ: readonly Verb[] = ["get", "list", "watch"];
const CREATE: readonly Verb[] = ["create"];
const BINDINGS = `apibindings.${APIS_GROUP}`;
const EVENTS: readonly string[] = ["events.", "events.events.k8s.io"];

/** What an export's view serves: its own resources, then those that it claims, then bindings, which it always sees. */
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
    onError(new Error(`the schema ${name} of ${cluster} cannot be served: ${String(error)}`, { cause: error }));
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

/** What a resource of an identity looks like, by any export that has it. */
function foreignKinds({ group = "", resource, identityHash = "" }: Claim, options: PartsOptions): readonly Resource[] {
  for (const exported of options.model.exportsOf(identityHash)) {
    const found = exported.spec?.resources?.find((one) => one.group === group && one.name === resource);
    const kinds = found === undefined ? [] : kindsOf(found.schema, clusterOf(exported), options);
    if (kinds.length > 0) return kinds;
  }
  return [];
}

/** Whoever has no claim on bindings sees those to this export, and changes none. */
function boundParts(of: ExportKey): readonly Part[] {
  const labels = parseLabelSelector(`${BINDING_EXPORT_LABEL}=${exportHash(of)}`);
  return readableBindings.map((kind) => part(kind, { labels, verbs: READ }));
}

/** The label that the server keeps on objects of a claim that is accepted. */
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

/** The first of each resource and version. */
function once(parts: readonly Part[]): readonly Part[] {
  const seen = new Map<string, Part>();
  for (const one of parts) {
    const name = `${nameOf(one.kind)}/${one.kind.version}`;
    if (!seen.has(name)) seen.set(name, one);
  }
  return [...seen.values()];
}
