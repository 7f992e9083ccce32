import {
  ApiError,
  formatGroupKind,
  formatGroupResource,
  isApiError,
  type KubeObject,
  type ObjectKey,
  type StatusCause,
} from "@virtual-workspaces/apimachinery";
import type { DeleteQuery } from "@virtual-workspaces/apimachinery/requests";
import { groupResourceOf, type ResourceDefinition } from "../definition.ts";
import type { DeleteOptions, Scope, Storage, WriteOptions } from "../storage.ts";
import type { Encoded } from "../watch/cache/encoded.ts";
import { LastingConflict } from "./conflicts.ts";
import { taken } from "./create.ts";
import { kindRules } from "./kind.ts";
import { type IsOwnAnnotation, withoutOwners } from "./own-annotations.ts";
import { modified } from "./update.ts";
import type { Deleted } from "./write-commit.ts";
import type { Draft, WriteRequest } from "./write-request.ts";
import { Writer } from "./writer.ts";

/** Stored kind and storage, and the kind that clients see. */
export interface SourceWritesOptions {
  /** Kind that clients see. */
  readonly above: ResourceDefinition;
  /** Stored kind. */
  readonly kept: ResourceDefinition;
  readonly storage: Storage;
  /** Whether an annotation exists only for the kind above, so that it has no owner. @default none does */
  readonly isOwnAnnotation?: IsOwnAnnotation;
}

/** Place of a stored object. */
export interface Place {
  readonly scope: Scope;
  readonly key: ObjectKey;
}

/**
 * Writes the objects from which others are made. Security: the rules of their own kind apply to every write. Errors name the
 * kind that clients see.
 */
export class SourceWrites {
  readonly writer: Writer;
  readonly #options: SourceWritesOptions;

  constructor(options: SourceWritesOptions) {
    this.#options = options;
    const { kept: definition, storage, isOwnAnnotation = () => false } = options;
    const rules = withoutOwners(kindRules(definition, storage.versions), isOwnAnnotation);
    this.writer = new Writer({ definition, storage, rules });
  }

  /** @throws ApiError 409 when the name is taken, and errors of the kind's rules */
  async create(draft: Draft, scope: Scope, options: WriteOptions): Promise<KubeObject | Encoded> {
    const { name, namespace = "" } = draft.object.metadata;
    const { above } = this.#options;
    return this.#told(name ?? "", async () => {
      const request = requestOf(scope, options);
      // Only an apply has its owners of fields already, and a name.
      if (name === undefined || draft.by === "changing") return this.writer.create(draft.object, request);
      const change = (copy: () => KubeObject | undefined): Draft => {
        const there = copy();
        if (there !== undefined) throw taken(ApiError.alreadyExists(groupResourceOf(above), name), there);
        return draft;
      };
      const key = { cluster: scope.cluster, namespace, name };
      return (await this.writer.update(key, change, { ...request, mayCreate: () => undefined })).object;
    });
  }

  /** Replaces an object with the result of `make`. @throws ApiError 404, 409, and errors of the kind's rules */
  async replace(
    { scope, key }: Place,
    make: (now: KubeObject) => Draft,
    options: WriteOptions,
  ): Promise<KubeObject | Encoded> {
    return this.#told(key.name, async () => {
      const change = (copy: () => KubeObject | undefined): Draft => make(copy() as KubeObject);
      return (await this.writer.update(key, change, requestOf(scope, options))).object;
    });
  }

  /** Deletes an object that is at the version of the preconditions. @throws ApiError 404, 409 */
  async delete({ scope, key }: Place, options: DeleteOptions): Promise<Deleted> {
    return this.#told(key.name, async () => {
      try {
        return await this.writer.delete(key, queryOf(options), requestOf(scope, withDefaults(options)));
      } catch (error) {
        const isRace = isApiError(error) && error.reason === "Conflict" && !(error instanceof LastingConflict);
        throw isRace ? modified(this.#options.above, key.name) : error;
      }
    });
  }

  async #told<R>(name: string, write: () => Promise<R>): Promise<R> {
    try {
      return await write();
    } catch (error) {
      throw isApiError(error) ? told(error, { ...this.#options, name }) : error;
    }
  }
}

function requestOf(scope: Scope, options: WriteOptions): WriteRequest {
  return { scope, options, part: "", whole: true };
}

function withDefaults(options: DeleteOptions & Partial<WriteOptions>): WriteOptions {
  return { fieldManager: "", fieldValidation: "Ignore", ...options };
}

function queryOf(options: DeleteOptions): DeleteQuery {
  const { dryRun, gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions } = options;
  return {
    dryRun,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
    ...(orphanDependents === undefined ? {} : { orphanDependents }),
    ...(preconditions === undefined ? {} : { preconditions }),
  };
}

/** Translates an error about the stored object into one about the object above. */
function told(error: ApiError, { above, kept, name }: SourceWritesOptions & { readonly name: string }): ApiError {
  const { status } = error;
  const { details } = status;
  const same = isSameKind(above, kept);
  if (details === undefined || (same && above.version === kept.version)) return error;
  if (details.kind === kept.kind && error.reason === "Invalid") {
    const explanation = same
      ? `(a field of version ${kept.version}, in which this ${above.kind} is kept)`
      : `(a field of the ${formatGroupKind(kept)} that stores this ${above.kind})`;
    const causes = (details.causes ?? []).map((cause) => explained(cause, explanation));
    return ApiError.invalid({ kind: above, name: details.name ?? name, causes });
  }
  if (same) return error;
  if (details.kind !== kept.plural || (details.group ?? "") !== kept.group) return error;
  const [from, to] = [kept, above].map((kind) => formatGroupResource(groupResourceOf(kind))) as [string, string];
  const { group: _group, ...rest } = details;
  const Same = error instanceof LastingConflict ? LastingConflict : ApiError;
  return new Same({
    ...status,
    message: status.message.replace(from, () => to),
    details: { ...rest, ...(above.group === "" ? {} : { group: above.group }), kind: above.plural },
  });
}

function isSameKind(a: ResourceDefinition, b: ResourceDefinition): boolean {
  return a.group === b.group && a.kind === b.kind && a.plural === b.plural;
}

/** Metadata is the same in both kinds; clients may not know the other fields. */
function explained(cause: StatusCause, explanation: string): StatusCause {
  if (cause.field?.startsWith("metadata.") === true) return cause;
  return { ...cause, message: `${cause.message ?? ""} ${explanation}` };
}
