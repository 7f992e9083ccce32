import type { KubeObject, StatusCause } from "@virtual-workspaces/apimachinery";
import type { Awaitable } from "../storage.ts";

/** What a kind's schema says of its objects, compiled. One for all definitions of equal content. */
export interface KindRules {
  /** Removes what the schema does not know, in place. @returns the paths removed: `spec.ports[0].nmae` */
  prune(object: KubeObject): readonly string[];
  /** Fills in defaults, in place. */
  fillDefaults(object: KubeObject): void;
  /** What is wrong with an object; `before` is what it replaces. */
  problems(
    object: KubeObject,
    before: KubeObject | undefined,
    options: { readonly signal: AbortSignal },
  ): Awaitable<readonly StatusCause[]>;
  readonly fields: FieldOwners;
}

/** Whose fields an object's are. */
export interface FieldOwners {
  /** `next` with the owners of its fields, after a write that is no apply. */
  update(change: FieldChange & { readonly next: KubeObject }): KubeObject;
  /** What `config` makes of the object. @throws ApiError 409 when others own what it changes, without `force` */
  apply(change: FieldChange & { readonly config: KubeObject; readonly force: boolean }): KubeObject;
}

/** Who changes what. */
export interface FieldChange {
  /** `undefined` when there is nothing yet. */
  readonly live: KubeObject | undefined;
  readonly manager: string;
  /** "" for the object itself. */
  readonly subresource: string;
  readonly now: Date;
}
