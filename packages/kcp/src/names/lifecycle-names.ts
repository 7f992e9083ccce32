/** Which WorkspaceType an initializer or a terminator stands for. */
export interface OwningType {
  /** The logical cluster that the type is in, by name; `system` where no type stands behind it. */
  readonly cluster: string;
  /** The type's name. */
  readonly name: string;
}

/**
 * The name of a type's initializer, and of its terminator: `<cluster>:<type>` (kcp's `InitializerForType`,
 * `TerminatorForType`). In URLs it is one segment.
 */
export const lifecycleName = ({ cluster, name }: OwningType): string => `${cluster}:${name}`;

/**
 * The type that an initializer or a terminator is of, split at the last colon (kcp's `TypeFrom`); undefined for what has
 * none, which kcp answers with 500.
 */
export function parseLifecycleName(text: string): OwningType | undefined {
  const colon = text.lastIndexOf(":");
  return colon < 0 ? undefined : { cluster: text.slice(0, colon), name: text.slice(colon + 1) };
}
