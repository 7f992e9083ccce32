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

/** What is written to, and as what it is shown. */
export interface SourceWritesOptions {
  /** The kind that clients see. */
  readonly above: ResourceDefinition;
  /** The kind that is kept. */
  readonly kept: ResourceDefinition;
  readonly storage: Storage;
  /** Whether an annotation is there on behalf of the kind above only, so that nobody owns it. @default none is */
  readonly isOwnAnnotation?: IsOwnAnnotation;
}

/** Where something below is written. */
export interface Place {
  readonly scope: Scope;
  readonly key: ObjectKey;
}

/**
 * Writes to the objects that others are made from: by the rules of their own kind, which nobody gets around from above.
 * What goes wrong there is said in terms of the kind above.
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

  /** @throws ApiError 409 when there is one of that name, and what the kind's rules say */
  async create(draft: Draft, scope: Scope, options: WriteOptions): Promise<KubeObject | Encoded> {
    const { name, namespace = "" } = draft.object.metadata;
    const { above } = this.#options;
    return this.#told(name ?? "", async () => {
      const request = requestOf(scope, options);
      // Only an apply knows its owners of fields beforehand, and has a name.
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

  /** Replaces an object by what `make` makes of it. @throws ApiError 404, 409, and what the kind's rules say */
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

  /** Deletes an object that still stands at the version of the preconditions. @throws ApiError 404, 409 */
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

/** An error about an object below, as one about the object above. */
function told(error: ApiError, { above, kept, name }: SourceWritesOptions & { readonly name: string }): ApiError {
  const { status } = error;
  const { details } = status;
  const same = isSameKind(above, kept);
  if (details === undefined || (same && above.version === kept.version)) return error;
  if (details.kind === kept.kind && error.reason === "Invalid") {
    const explanation = same
      ? `(a field of version ${kept.version}, as which this ${above.kind} is kept)`
      : `(a field of the ${formatGroupKind(kept)} that this ${above.kind} is kept as)`;
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

/** Metadata is the same above and below; any other field is one that the client may not know. */
function explained(cause: StatusCause, explanation: string): StatusCause {
  if (cause.field?.startsWith("metadata.") === true) return cause;
  return { ...cause, message: `${cause.message ?? ""} ${explanation}` };
}
