import type { ObjectKey } from "@virtual-workspaces/apimachinery";
import type { TypedDefinition } from "../definition.ts";
import type { Encoded } from "../watch/cache/encoded.ts";
import type { Scope } from "../storage.ts";
import type { Below } from "../write/below.ts";
import type { KeptAnnotations } from "./annotations.ts";
import type { DerivedLease } from "./derived.ts";
import type { WritableViewOptions } from "./options.ts";

/** What one write through a view works with. */
export interface Lens<In extends object, Out extends object, By, Inputs> {
  readonly view: WritableViewOptions<In, Out, By, Inputs>;
  readonly resource: TypedDefinition<Out>;
  /** The computation that the caller reads. */
  readonly lease: DerivedLease<In, Out, By, Inputs>;
  readonly below: Below;
  readonly scope: Scope;
  /** The annotations in which the source keeps what is the view's. */
  readonly kept: KeptAnnotations;
  /** Whether the source has an annotation that the view does not show: one of those, or of views beside it. */
  readonly isHidden: (annotation: string) => boolean;
}

/** What of the view a write is about. */
export interface Before {
  readonly key: ObjectKey;
  /** The place in the view's history from which on events may be those of the write. */
  readonly since: number;
  /** The object as the view shows it; `undefined` for one that is to be created. */
  readonly shown: Encoded | undefined;
}
