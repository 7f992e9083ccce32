import { createHash } from "node:crypto";
import { apiVersionOf, type JsonSchema } from "@virtual-workspaces/apimachinery";
import { compareVersionPriority } from "@virtual-workspaces/apimachinery/discovery";
import { AGE_COLUMN, compileTable, type TableColumn } from "@virtual-workspaces/apimachinery/tables";
import { Resource, type ResourceOptions } from "@virtual-workspaces/framework";
import type { CrdColumn, CrdNames, CrdSpec, CrdVersion } from "../definition/definition.ts";

/** Description of a kind by a CustomResourceDefinition or an APIResourceSchema. */
export interface KindSource extends Pick<CrdSpec, "group" | "scope" | "versions"> {
  /** Accepted names, under which the kind is served. */
  readonly names: CrdNames;
  /** Rule for object names; `segment` allows any name that fits into a URL path. @default DNS subdomains */
  readonly objectNames?: "segment";
}

/** Compiled version of a kind. */
export interface CompiledVersion {
  readonly resource: Resource;
  readonly served: boolean;
  /** Warning for clients that use a deprecated version. */
  readonly warning: string | undefined;
}

/** Compiled kind with all versions. Equal descriptions share one value. */
export interface CompiledKind {
  /** Hash of the whole description. */
  readonly hash: string;
  /** Version in which objects are stored. */
  readonly stored: Resource;
  /** All versions, also unserved ones, since objects may be stored in them. */
  readonly versions: readonly CompiledVersion[];
}

/**
 * Table of compiled kinds by description: ten thousand workspaces with the same CustomResourceDefinition share one
 * compiled schema and set of rules. Unused kinds are dropped.
 */
export class KindTable {
  readonly #kinds = new Map<string, WeakRef<CompiledKind>>();
  readonly #gone = new FinalizationRegistry<string>((hash) => {
    if (this.#kinds.get(hash)?.deref() === undefined) this.#kinds.delete(hash);
  });

  /** Number of different kinds, including those about to be dropped. */
  get size(): number {
    return this.#kinds.size;
  }

  /** Returns the compiled kind of a description. @throws Error without a storage version, or if the kind cannot be served */
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
  if (stored === undefined)
    throw new Error(`no storage version in ${source.names.plural}.${source.group}: set storage: true in one version`);
  return { hash, stored, versions };
}

/** Returns the deprecation warning of a version, as Kubernetes does: its own text, or the version to use instead. */
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
    // Kubernetes accepts paths to missing fields; a scale by such paths could not be written.
    return build({});
  }
}

/** Schema of a version without one. */
const OPEN: JsonSchema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** Removes the three fields that every object has; of `metadata`, only rules for names are used. */
function contentSchema(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  if (properties === undefined) return schema;
  const { apiVersion: _version, kind: _kind, metadata, ...content } = properties;
  return { ...schema, properties: metadata?.properties === undefined ? content : { metadata, ...content } };
}

/** If the table columns are invalid, Kubernetes' default columns are used. */
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
