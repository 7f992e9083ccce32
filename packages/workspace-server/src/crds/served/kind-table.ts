import { createHash } from "node:crypto";
import { apiVersionOf, type JsonSchema } from "@virtual-workspaces/apimachinery";
import { compareVersionPriority } from "@virtual-workspaces/apimachinery/discovery";
import { AGE_COLUMN, compileTable, type TableColumn } from "@virtual-workspaces/apimachinery/tables";
import { Resource, type ResourceOptions } from "@virtual-workspaces/framework";
import type { CrdColumn, CrdNames, CrdSpec, CrdVersion } from "../definition/definition.ts";

/** A kind as a CustomResourceDefinition, or an APIResourceSchema, describes it. */
export interface KindSource extends Pick<CrdSpec, "group" | "scope" | "versions"> {
  /** Under which it is served: those that were accepted. */
  readonly names: CrdNames;
  /** `segment`: objects may have any name that a URL path can hold. @default DNS subdomains */
  readonly objectNames?: "segment";
}

/** A version of a kind, ready to be served. */
export interface CompiledVersion {
  readonly resource: Resource;
  readonly served: boolean;
  /** What clients are told that still use it. */
  readonly warning: string | undefined;
}

/** A kind in all its versions. Equal descriptions have the same value, whoever gave them. */
export interface CompiledKind {
  /** Equal exactly when all of the description is. */
  readonly hash: string;
  /** In which objects are kept. */
  readonly stored: Resource;
  /** All of them, those included that are not served: objects may have been kept in one. */
  readonly versions: readonly CompiledVersion[];
}

/**
 * Kinds by what describes them: ten thousand workspaces with the same CustomResourceDefinition share one, with one
 * compiled schema and one compiled set of rules. Holds nothing that nobody uses.
 */
export class KindTable {
  readonly #kinds = new Map<string, WeakRef<CompiledKind>>();
  readonly #gone = new FinalizationRegistry<string>((hash) => {
    if (this.#kinds.get(hash)?.deref() === undefined) this.#kinds.delete(hash);
  });

  /** How many different kinds there are, those included that are about to go. */
  get size(): number {
    return this.#kinds.size;
  }

  /** @throws Error when there is no storage version, or nothing that could be served */
  of(source: KindSource): CompiledKind {
    const hash = hashOf(source);
    const known = this.#kinds.get(hash)?.deref();
    if (known !== undefined) return known;
    const kind = compiled(source, hash);
    this.#kinds.set(hash, new WeakRef(kind));
    this.#gone.register(kind, hash);
    return kind;
  }
}

function hashOf({ group, scope, names, versions, objectNames }: KindSource): string {
  return createHash("sha256")
    .update(JSON.stringify([group, scope, names, versions, objectNames]))
    .digest("base64url");
}

function compiled(source: KindSource, hash: string): CompiledKind {
  const versions = source.versions.map((version) => ({
    storage: version.storage,
    served: version.served,
    warning: warningOf(version, source),
    resource: resourceOf(version, source),
  }));
  const stored = versions.find(({ storage }) => storage)?.resource;
  if (stored === undefined) throw new Error(`${source.names.plural}.${source.group} has no storage version`);
  return { hash, stored, versions };
}

/** What Kubernetes says of a version that is deprecated: its own words, or which one to use instead. */
function warningOf(version: CrdVersion, { group, names, versions }: KindSource): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const named = (name: string): string => `${apiVersionOf({ group, version: name })} ${names.kind}`;
  const [better] = versions
    .filter(({ name, served, deprecated }) => served && deprecated !== true && isNewer(name, version.name))
    .map(({ name }) => name)
    .sort(compareVersionPriority);
  return `${named(version.name)} is deprecated${better === undefined ? "" : `; use ${named(better)}`}`;
}

function isNewer(name: string, than: string): boolean {
  return compareVersionPriority(name, than) < 0;
}

function resourceOf(version: CrdVersion, { group, scope, names, objectNames }: KindSource): Resource {
  const { singular, listKind, shortNames = [], categories = [], plural, kind } = names;
  const { subresources = {}, selectableFields = [], additionalPrinterColumns = [], schema } = version;
  const options: ResourceOptions<never, never, JsonSchema> = {
    group,
    version: version.name,
    kind,
    scope,
    plural,
    ...(singular !== undefined && { singular }),
    ...(listKind !== undefined && { listKind }),
    shortNames,
    categories,
    schema: contentSchema(schema?.openAPIV3Schema ?? OPEN),
    columns: columnsOf(additionalPrinterColumns),
    selectableFields: selectableFields.map(({ jsonPath }) => jsonPath),
    subresources: { status: subresources.status !== undefined },
    ...(objectNames && { strategy: { names: objectNames } }),
  };
  const { scale } = subresources;
  const build = (more: Pick<typeof options, "subresources">): Resource =>
    new Resource({ ...options, ...more } as ConstructorParameters<typeof Resource>[0]);
  if (scale === undefined) return build({});
  try {
    return build({ subresources: { ...options.subresources, scale } });
  } catch {
    // Kubernetes takes paths that lead to nothing; what is scaled by them could not be written.
    return build({});
  }
}

/** Of a version that says nothing of its objects. */
const OPEN: JsonSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** Every object has these three: of a kind only what it says of names is kept. */
function contentSchema(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  if (properties === undefined) return schema;
  const { apiVersion: _version, kind: _kind, metadata, ...content } = properties;
  return { ...schema, properties: metadata?.properties === undefined ? content : { metadata, ...content } };
}

/** A table that could not be made is made as if nothing had been said of it, as Kubernetes does. */
function columnsOf(columns: readonly CrdColumn[]): readonly TableColumn[] {
  if (columns.length === 0) return [AGE_COLUMN];
  const given = columns as readonly TableColumn[];
  try {
    compileTable(given);
    return given;
  } catch {
    return [AGE_COLUMN];
  }
}
