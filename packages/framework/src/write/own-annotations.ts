import { CLUSTER_ANNOTATION, type KubeObject, type ObjectMeta } from "@virtual-workspaces/apimachinery";
import type { FieldOwners, KindRules } from "./write-rules.ts";

/** Whether the storage itself sets an annotation. */
export type IsOwnAnnotation = (key: string) => boolean;

type Annotations = Record<string, string>;

/** Replaces the storage's own annotations in a client's object with the stored ones, in place. */
export function keepOwnAnnotations(next: KubeObject, before: KubeObject | undefined, isOwn: IsOwnAnnotation): void {
  const sent = next.metadata.annotations;
  const kept = before?.metadata.annotations;
  if (sent === undefined && kept === undefined) return;
  if (!hasOwn(sent, isOwn) && !hasOwn(kept, isOwn) && Object.keys(sent ?? {}).length > 0) return;
  const annotations = { ...pick(sent, (key) => !isOwn(key)), ...pick(kept, isOwn) };
  if (Object.keys(annotations).length > 0) next.metadata.annotations = annotations;
  else delete next.metadata.annotations;
}

/** Sets the annotation with the logical cluster, as a storage that sets it would return the object. */
export function inCluster(object: KubeObject, cluster: string): KubeObject {
  if (cluster === "") return object;
  const annotations = { ...object.metadata.annotations, [CLUSTER_ANNOTATION]: cluster };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Returns the rules, changed so that the storage's annotations have no owner. */
export function withoutOwners(rules: KindRules, isOwn: IsOwnAnnotation): KindRules {
  const { fields } = rules;
  const bare = (object: KubeObject): KubeObject => withoutOwn(object, isOwn);
  const bareLive = ({
    live,
  }: {
    readonly live: KubeObject | undefined;
  }): { readonly live: KubeObject | undefined } => ({
    live: live && bare(live),
  });
  const owners: FieldOwners = {
    update: (change) => {
      const { next } = change;
      return restored(fields.update({ ...change, ...bareLive(change), next: bare(next) }), next, isOwn);
    },
    apply: (change) => {
      const { config, live } = change;
      return restored(fields.apply({ ...change, ...bareLive(change), config: bare(config) }), live, isOwn);
    },
  };
  return { ...rules, fields: owners };
}

/** Returns the object without the storage's own annotations. */
export function withoutOwn(object: KubeObject, isOwn: IsOwnAnnotation): KubeObject {
  const given: ObjectMeta | undefined = object.metadata; // an applied object may lack it
  if (given?.annotations === undefined || !hasOwn(given.annotations, isOwn)) return object;
  const { annotations, ...metadata } = given;
  const rest = pick(annotations, (key) => !isOwn(key));
  return { ...object, metadata: Object.keys(rest).length === 0 ? metadata : { ...metadata, annotations: rest } };
}

function restored(object: KubeObject, from: KubeObject | undefined, isOwn: IsOwnAnnotation): KubeObject {
  const given = from?.metadata.annotations;
  if (!hasOwn(given, isOwn)) return object;
  const own = pick(given, isOwn);
  return { ...object, metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...own } } };
}

function hasOwn(annotations: Annotations | undefined, isOwn: IsOwnAnnotation): boolean {
  return annotations !== undefined && Object.keys(annotations).some(isOwn);
}

function pick(annotations: Annotations | undefined, wanted: IsOwnAnnotation): Annotations {
  return annotations === undefined
    ? {}
    : Object.fromEntries(Object.entries(annotations).filter(([key]) => wanted(key)));
}
