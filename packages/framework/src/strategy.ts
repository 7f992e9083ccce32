import type { KubeObject, StatusCause } from "@virtual-workspaces/apimachinery";

/**
 * What a kind's objects are written by besides its schema (the strategies, defaults and validations of Kubernetes' own
 * registry). Custom kinds do without: it is there so that Kubernetes' own kinds can be served as they are known. Its functions
 * are asked for every write, more than once where a write is tried again: they must be quick, and look at nothing else.
 * Those that set something replace members of the object, and change nothing within them.
 *
 * @typeParam T the kind's objects
 */
export interface Strategy<T extends KubeObject = KubeObject> {
  /**
   * What may be a name: a DNS subdomain, a DNS label, or any segment of a path (`system:admin`). @default "subdomain"
   */
  readonly names?: "subdomain" | "label" | "segment";
  /** Whether `metadata.generation` counts the changes of what is wished for. @default true */
  readonly generation?: boolean;
  /**
   * Whether an update without `metadata.resourceVersion` replaces whatever there is (AllowUnconditionalUpdate). Whoever leaves
   * it out overwrites what others have written meanwhile. @default false, such an update is 422
   */
  readonly unconditionalUpdate?: boolean;
  /** Whether an update creates what is not there (AllowCreateOnUpdate), for those who may create. @default false, it is 404 */
  readonly createOnUpdate?: boolean;
  /**
   * Fills in, in place, what a schema cannot say, of an object as it was sent, after the schema's own defaults and before
   * anybody is told who owns its fields. Throws an `ApiError` for what cannot be read at all.
   */
  readonly defaults?: (object: T) => void;
  /** Sets, in place, what nobody can write: before validation, after admission. `before` is `undefined` for a new object. */
  readonly prepare?: (object: T, before: T | undefined, subresource: string) => void;
  /** What is wrong with an object besides what its schema and the rules of metadata say; asked after admission. */
  readonly problems?: (object: T, before: T | undefined, subresource: string) => readonly StatusCause[];
  /** Whether something else than finalizers holds an object that is to be deleted. @default nothing does */
  readonly isHeld?: (object: T) => boolean;
  /** Whether a delete is answered with the object that went (ReturnDeletedObject). @default false, with a Status */
  readonly returnDeleted?: boolean;
  /** Sets, in place, what an object that is held shows from when it is to be deleted. */
  readonly marked?: (object: T) => void;
}
