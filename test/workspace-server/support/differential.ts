// A workspace as the subject of the differential suite: the kinds are CustomResourceDefinitions, made through its own API.
import { CLUSTER_ANNOTATION } from "@virtual-workspaces/apimachinery";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import type { Store } from "@virtual-workspaces/store";
import { crdOf } from "../../differential/crd.ts";
import type { DifferentialKind } from "../../differential/kinds/kind.ts";
import type { Case } from "../../differential/step.ts";
import type { Subject } from "../../differential/subject.ts";
import { counted } from "./counted.ts";
import { define, makeNamespace, makeWorkspace } from "./logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "./workspaces.ts";

/** Where cases keep what is in namespaces. */
const NAMESPACES = ["ns", "other", "a", "b", "a-b"];

/** Starts a server over a store, and defines the kinds in a new workspace. */
export async function startInWorkspace(kinds: readonly DifferentialKind[], store: Store): Promise<Subject> {
  const { store: asked, quiet } = counted(store);
  const server = await startWorkspaces(asked);
  const subject = await defined(server, "differential", kinds.map(crdOf));
  // A list is as new as the store: what controllers still write would show in its version.
  await quiet();
  return {
    ...subject,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** Makes a workspace with these kinds in it. */
export async function defined(
  server: Workspaces,
  name: string,
  crds: readonly object[],
): Promise<Omit<Subject, typeof Symbol.asyncDispose>> {
  const cluster = await makeWorkspace(server, name);
  for (const namespace of NAMESPACES) await makeNamespace(server, cluster, namespace);
  await define(server, cluster, crds);
  return { url: `${server.url}/clusters/${cluster}`, headers: { authorization: "Bearer root" } };
}

/** Kinds of the same names whose objects may be anything. */
export function looseOf(kinds: readonly DifferentialKind[]): readonly object[] {
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return kinds.map(([{ group, kind, plural, scope }, ...others]) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, plural },
      versions: ["v1", ...others.map(({ version }) => version)].map((name, at) => ({
        name,
        served: true,
        storage: at === 0,
        schema: { openAPIV3Schema },
      })),
    },
  }));
}

/**
 * Cases that a workspace answers otherwise, since there is more in it: namespaces, which must be there; an annotation on
 * every object, which a patch can tell; and a garbage collector, which ends what waits for one.
 */
export function isOtherInWorkspace(one: Case): boolean {
  return one.name === "in an invalid namespace" || one.name === "with escapes" || awaitsCollector(one);
}

/** Whether something is asked behind a delete that leaves the rest to the collector: how far it is by then is anybody's guess. */
function awaitsCollector({ steps }: Case): boolean {
  const texts = steps.map((step) => stringifyJson(step));
  const asks = (text: string): boolean => /"Foreground"|"Orphan"|orphanDependents|"orphan"/.test(text);
  const left = texts.findIndex((text, at) => text.includes('"DELETE ') && texts.slice(0, at + 1).some(asks));
  return left >= 0 && left < texts.length - 1;
}

/** The answers without what every object of a workspace says besides: where it is. */
export function placeless<T>(value: T): T {
  if (Array.isArray(value)) return value.map(placeless) as T;
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([name, member]) => {
    if (name !== "annotations" || !Object.hasOwn(member ?? {}, CLUSTER_ANNOTATION)) return [[name, placeless(member)]];
    const { [CLUSTER_ANNOTATION]: _cluster, ...annotations } = member;
    return Object.keys(annotations).length === 0 ? [] : [[name, annotations]];
  });
  return Object.fromEntries(entries);
}
