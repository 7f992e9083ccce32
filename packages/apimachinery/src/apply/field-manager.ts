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
import { applyConfig, trackCreate, trackUpdate, type Write } from "./track.ts";
import { Versions, type VersionsOptions } from "./versions.ts";

/** Options of a {@link FieldManager}: facts about its kind. */
export interface FieldManagerOptions extends VersionsOptions {
  /**
   * Fields that writes cannot set and so do not own, with everything below them. Keyed by subresource ("" is the object
   * itself), each a list of paths of names: `{ "": [["status"]], status: [["metadata"], ["spec"]] }`. Kubernetes calls them
   * reset fields. Default: none.
   */
  readonly ignored?: Readonly<Record<string, readonly (readonly string[])[]>>;
}

/** Write other than an apply: create, update or patch. */
export interface ManagedUpdate {
  /** Object before the write; undefined for a create. */
  readonly live: KubeObject | undefined;
  /** Object as the client wants it. */
  readonly next: KubeObject;
  /** Field manager from the client's request, or derived from its user agent; "" counts as "unknown". */
  readonly manager: string;
  /** Default: "", the object itself. */
  readonly subresource?: string;
  readonly now: Date;
}

/** Server-side apply. */
export interface ManagedApply {
  /** Object before the apply; undefined if the apply creates it. */
  readonly live: KubeObject | undefined;
  /** Configuration of the manager: the fields that it sets, and no others. */
  readonly config: KubeObject;
  /** As in {@link ManagedUpdate}. "kubectl" may take over the fields of its own client-side applies. */
  readonly manager: string;
  /** Whether to take fields over from other managers instead of failing. Default: no. */
  readonly force?: boolean;
  /** Default: "", the object itself. */
  readonly subresource?: string;
  readonly now: Date;
}

/** Options of {@link FieldManager.extract}: the manager whose configuration is returned. */
export interface ExtractOptions {
  readonly manager: string;
  /** Default: "", the object itself. */
  readonly subresource?: string;
}

/** Manager of the fields of an object whose managers were not tracked before its first apply. */
const BEFORE_FIRST_APPLY = "before-first-apply";

/**
 * Server-side apply for one kind. It merges applied configurations, and records in `metadata.managedFields` the owners of
 * fields through every kind of write. Results equal those of Kubernetes' own `managedfields` and structured-merge-diff.
 * Objects are in the version of the options. They are never changed, and results share equal parts with them.
 */
export class FieldManager {
  readonly #versions: Versions;
  readonly #ignored: ReadonlyMap<string, FieldSet>;
  /** State of an object before its creation. */
  readonly #bare: JsonObject;

  constructor({ ignored = {}, ...options }: FieldManagerOptions) {
    this.#versions = new Versions(options);
    this.#ignored = new Map(Object.entries(ignored).map(([subresource, paths]) => [subresource, setOfPaths(paths)]));
    this.#bare = { apiVersion: options.apiVersion, kind: options.kind };
  }

  /**
   * Returns the object to store for a create, update or patch: `next` with its managedFields. If an object does not fit the
   * schema or cannot be converted, owners cannot be computed, and the previous managedFields stay.
   */
  update(request: ManagedUpdate): KubeObject {
    const { next, manager, subresource = "", now } = request;
    const live: JsonObject = request.live ?? this.#bare;
    const plain = withManagedFields(next, undefined);
    const managers = managersForUpdate(live, next, subresource);
    // An object without managers is tracked from its first apply on.
    if (managers.size === 0 && (metadataOf(live)["uid"] ?? "") !== "") return plain;
    const key = this.#key("Update", manager, subresource);
    try {
      const tracked =
        request.live === undefined && managers.size === 0
          ? trackCreate(this.#versions, this.#limited({ next: plain, key, now }))
          : trackUpdate(this.#versions, this.#limited({ live, next: plain, managers, key, now }));
      return withManagers(plain, tracked, live);
    } catch (error) {
      if (!isApiError(error)) throw error;
      const before = managedFieldsOf(live);
      return withManagedFields(plain, isManagedFields(before) ? before : undefined);
    }
  }

  /**
   * Returns the object to store for an apply; `live` itself if nothing changes.
   *
   * @throws ApiError 409 with a cause for each changed field that another manager owns, unless forced. 400 for another kind,
   * or for managedFields in the configuration. As in Kubernetes, 500 for a configuration that does not fit the schema.
   */
  apply(request: ManagedApply): KubeObject {
    const { config, manager, force = false, subresource = "", now } = request;
    const live: JsonObject = request.live ?? this.#bare;
    const stored = storedManagers(live);
    this.#checkKind(config);
    const managers = stored.size > 0 ? stored : this.#firstManagers(live, subresource, now);
    if (isManagedFields(managedFieldsOf(config))) throw ApiError.badRequest("metadata.managedFields must be nil");
    const key = this.#key("Apply", manager, subresource);
    const applied = applyConfig(this.#versions, this.#limited({ live, next: config, managers, key, now }));
    const conflicts = force ? [] : this.#unexpected(applied.conflicts, manager, live);
    if (conflicts.length > 0) throw conflictError(conflicts);
    const object = manager === KUBECTL ? withLastApplied(applied.object, config) : applied.object;
    return withManagers(object, applied.managers, live);
  }

  /**
   * Returns the configuration that a manager applied last, without fields that the object no longer has. Returns undefined if
   * the manager applied none.
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

  /** Completes a write with the fields that it cannot set. */
  #limited<W extends Pick<Write, "key">>(write: W): W & Pick<Write, "ignored"> {
    return { ...write, ignored: this.#ignored.get(write.key.subresource) ?? FieldSet.empty };
  }

  #firstManagers(live: JsonObject, subresource: string, now: Date): Managers {
    const key = this.#key("Update", BEFORE_FIRST_APPLY, subresource);
    try {
      return trackCreate(this.#versions, this.#limited({ next: live, key, now }));
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

  /** Returns the conflicts that stand: kubectl may take over fields that it set by client-side apply. */
  #unexpected(conflicts: readonly Conflict[], manager: string, live: JsonObject): readonly Conflict[] {
    if (manager !== KUBECTL || conflicts.length === 0) return conflicts;
    const own = fieldsOfLastApplied(this.#versions, live);
    return conflicts
      .map((conflict) => ({ ...conflict, fields: conflict.fields.difference(own) }))
      .filter(({ fields }) => !fields.isEmpty);
  }
}

/** Formats a kind: `example.dev/v1, Kind=Quote`; `/v1, Kind=Pod` in the core group; "" without a version. */
function formatKind(apiVersion: string, kind: string): string {
  const slashes = apiVersion.split("/").length - 1;
  if (slashes > 1) return "/, Kind=";
  return `${slashes === 1 ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

function textOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}
