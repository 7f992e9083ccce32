import type { JsonObject } from "../json/value.ts";
import { ApiError, isApiError } from "../meta/api-error.ts";
import type { KubeObject } from "../meta/types.ts";
import { applyFailure, type Conflict, conflictError } from "./apply-error.ts";
import { FieldSet, setOfPaths } from "./field-set.ts";
import { fieldsOfLastApplied, KUBECTL, withLastApplied } from "./last-applied.ts";
import { isManagedFields, type ManagerKey, type Managers, managerId } from "./managed-fields.ts";
import {
  managedFieldsOf,
  managersForUpdate,
  metadataOf,
  storedManagers,
  withManagedFields,
  withManagers,
} from "./managed-object.ts";
import { extract } from "./remove.ts";
import { applyConfig, trackUpdate, type Write } from "./track.ts";
import { Versions, type VersionsOptions } from "./versions.ts";

/** What a {@link FieldManager} has to know of a kind. */
export interface FieldManagerOptions extends VersionsOptions {
  /**
   * The fields that writes cannot set and so do not own, with all below them, by subresource ("" is the object itself), as
   * paths of names: `{ "": [["status"]], status: [["metadata"], ["spec"]] }`. Kubernetes calls them reset fields.
   * Default: none.
   */
  readonly ignored?: Readonly<Record<string, readonly (readonly string[])[]>>;
}

/** A write other than an apply: create, update, patch. */
export interface ManagedUpdate {
  /** The object before; undefined for a create. */
  readonly live: KubeObject | undefined;
  /** The object as the client wants it. */
  readonly next: KubeObject;
  /** The field manager that the client names, or what its user agent gives; "" counts as "unknown". */
  readonly manager: string;
  /** Default: "", the object itself. */
  readonly subresource?: string;
  readonly now: Date;
}

/** An apply. */
export interface ManagedApply {
  /** The object before; undefined where the apply creates it. */
  readonly live: KubeObject | undefined;
  /** What the manager wants: the fields that it sets, and no others. */
  readonly config: KubeObject;
  /** As in {@link ManagedUpdate}; "kubectl" may follow upon its own client-side applies. */
  readonly manager: string;
  /** Whether to take fields over from other managers instead of failing. Default: no. */
  readonly force?: boolean;
  /** Default: "", the object itself. */
  readonly subresource?: string;
  readonly now: Date;
}

/** Whose configuration is meant. */
export interface ExtractOptions {
  readonly manager: string;
  /** Default: "", the object itself. */
  readonly subresource?: string;
}

/** Who manages what an object had before it was first applied to, if nobody was tracked. */
const BEFORE_FIRST_APPLY = "before-first-apply";

/**
 * Server-side apply for one kind: merges what is applied, and keeps in `metadata.managedFields` who manages which fields,
 * through every kind of write. Results equal those of Kubernetes' own (its `managedfields` and structured-merge-diff).
 * Objects are in the version of the options; they are never changed, and results share what is equal in them.
 */
export class FieldManager {
  readonly #versions: Versions;
  readonly #ignored: ReadonlyMap<string, FieldSet>;
  /** What an object is before it is created. */
  readonly #bare: JsonObject;

  constructor({ ignored = {}, ...options }: FieldManagerOptions) {
    this.#versions = new Versions(options);
    this.#ignored = new Map(Object.entries(ignored).map(([subresource, paths]) => [subresource, setOfPaths(paths)]));
    this.#bare = { apiVersion: options.apiVersion, kind: options.kind };
  }

  /**
   * The object to store for a create, update or patch: `next` with its managedFields. If who manages what cannot be told,
   * since an object does not fit the schema or cannot be converted, everything is managed as before.
   */
  update(request: ManagedUpdate): KubeObject {
    const { next, manager, subresource = "", now } = request;
    const live: JsonObject = request.live ?? this.#bare;
    const plain = withManagedFields(next, undefined);
    const managers = managersForUpdate(live, next, subresource);
    // An object that nobody was tracked for is tracked from the first apply on.
    if (managers.size === 0 && (metadataOf(live)["uid"] ?? "") !== "") return plain;
    const key = this.#key("Update", manager, subresource);
    try {
      const tracked = trackUpdate(this.#versions, this.#write({ live, next: plain, managers, key, now }));
      return withManagers(plain, tracked, live);
    } catch (error) {
      if (!isApiError(error)) throw error;
      const before = managedFieldsOf(live);
      return withManagedFields(plain, isManagedFields(before) ? before : undefined);
    }
  }

  /**
   * The object to store for an apply; `live` itself if nothing changes.
   *
   * @throws ApiError 409 with a cause for each field that others manage and that would change, unless forced; 400 for
   *   another kind, or for managedFields in the configuration; 500 for a configuration that does not fit the schema, as
   *   in Kubernetes
   */
  apply(request: ManagedApply): KubeObject {
    const { config, manager, force = false, subresource = "", now } = request;
    const live: JsonObject = request.live ?? this.#bare;
    const stored = storedManagers(live);
    this.#checkKind(config);
    const managers = stored.size > 0 ? stored : this.#firstManagers(live, subresource, now);
    if (isManagedFields(managedFieldsOf(config))) throw ApiError.badRequest("metadata.managedFields must be nil");
    const key = this.#key("Apply", manager, subresource);
    const applied = applyConfig(this.#versions, this.#write({ live, next: config, managers, key, now }));
    const conflicts = force ? [] : this.#unexpected(applied.conflicts, manager, live);
    if (conflicts.length > 0) throw conflictError(conflicts);
    const object = manager === KUBECTL ? withLastApplied(applied.object, config) : applied.object;
    return withManagers(object, applied.managers, live);
  }

  /**
   * The configuration that a manager applied last, as far as the object still has it; undefined if it applied none.
   *
   * @throws ApiError 500 if the object's managedFields are malformed
   */
  extract(object: KubeObject, { manager, subresource = "" }: ExtractOptions): KubeObject | undefined {
    const key = this.#key("Apply", manager, subresource);
    const applied = storedManagers(object).get(managerId(key));
    if (applied === undefined) return undefined;
    const config = extract(object, applied.set.leaves(), this.#versions.type) as JsonObject;
    return { ...config, apiVersion: object.apiVersion, kind: object.kind } as JsonObject as KubeObject;
  }

  #key(operation: ManagerKey["operation"], manager: string, subresource: string): ManagerKey {
    return {
      manager: manager === "" ? "unknown" : manager,
      operation,
      apiVersion: this.#versions.apiVersion,
      subresource,
    };
  }

  #write(write: Omit<Write, "ignored">): Write {
    return { ...write, ignored: this.#ignored.get(write.key.subresource) ?? FieldSet.empty };
  }

  #firstManagers(live: JsonObject, subresource: string, now: Date): Managers {
    const key = this.#key("Update", BEFORE_FIRST_APPLY, subresource);
    const write = this.#write({ live: this.#bare, next: live, managers: new Map(), key, now });
    try {
      return trackUpdate(this.#versions, write);
    } catch (error) {
      if (!isApiError(error)) throw error;
      throw applyFailure(`failed to create manager for existing fields: ${error.message}`, error);
    }
  }

  #checkKind({ apiVersion, kind }: KubeObject): void {
    const { apiVersion: version, kind: known } = this.#versions;
    if (apiVersion === version && kind === known) return;
    throw ApiError.badRequest(`invalid object type: ${formatKind(textOrEmpty(apiVersion), textOrEmpty(kind))}`);
  }

  /** Conflicts that stand: kubectl may take over what it set itself by client-side apply. */
  #unexpected(conflicts: readonly Conflict[], manager: string, live: JsonObject): readonly Conflict[] {
    if (manager !== KUBECTL || conflicts.length === 0) return conflicts;
    const own = fieldsOfLastApplied(this.#versions, live);
    return conflicts
      .map((conflict) => ({ ...conflict, fields: conflict.fields.difference(own) }))
      .filter(({ fields }) => !fields.isEmpty);
  }
}

/** `example.dev/v1, Kind=Quote`; in the core group `/v1, Kind=Pod`; nothing of what has no version. */
function formatKind(apiVersion: string, kind: string): string {
  const slashes = apiVersion.split("/").length - 1;
  if (slashes > 1) return "/, Kind=";
  return `${slashes === 1 ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

function textOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}
