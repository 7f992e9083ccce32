// A workspace as the subject of the differential suite: its kinds are CustomResourceDefinitions, created through its own API.
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

/** Namespaces of the cases. */
const NAMESPACES = ["ns", "other", "a", "b", "a-b"];

/** Starts a server over a store, and defines the kinds in a new workspace. */
export async function startInWorkspace(kinds: readonly DifferentialKind[], store: Store): Promise<Subject> {
  const { store: asked, quiet } = counted(store);
  const server = await startWorkspaces(asked);
  const subject = await defined(server, "differential", kinds.map(crdOf));
  // A list is as new as the store, so pending writes of controllers would change its version.
  await quiet();
  return {
    ...subject,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** Creates a workspace with these kinds. */
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

/** Returns kinds of the same names without validation. */
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

/** Selects cases with other answers in a workspace, which requires namespaces, annotates every object, and has a garbage collector. */
export function isOtherInWorkspace(one: Case): boolean {
  return one.name === "in an invalid namespace" || one.name === "with escapes" || awaitsCollector(one);
}

/** Whether a case has steps after a delete that leaves dependents to the collector, whose progress is unpredictable. */
function awaitsCollector({ steps }: Case): boolean {
  const texts = steps.map((step) => stringifyJson(step));
  const asks = (text: string): boolean => /"Foreground"|"Orphan"|orphanDependents|"orphan"/.test(text);
  const left = texts.findIndex((text, at) => text.includes('"DELETE ') && texts.slice(0, at + 1).some(asks));
  return left >= 0 && left < texts.length - 1;
}

/** Removes the logical cluster from the objects of an answer. */
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
