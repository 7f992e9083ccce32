import { setTimeout as delay } from "node:timers/promises";
import { at, listAt, textAt } from "../assertions/json.ts";
import { limited } from "../assertions/perform.ts";
import { type ConformanceResource, groupVersionPath, resourceName } from "../assertions/report.ts";
import { HttpClient } from "../http/client.ts";
import type { Credentials } from "../http/credentials.ts";
import { checkable, readReadable } from "../probe/read-discovery.ts";
import { removeObject } from "../writing/remove.ts";
import { RUN_LABEL } from "../writing/writer.ts";

/** Maximum number of resources that are cleaned at once. */
const AT_ONCE = 12;
/** Deadline for an answer, and for the deletion of a namespace, ms. */
const PATIENCE = 15_000;
/** Time between two looks at a namespace that is being deleted, ms. */
const AGAIN = 100;

/** Options of {@link cleanConformance}. */
export interface CleanOptions {
  /** URL below which `/api` and `/apis` are, as in the run. */
  readonly url: string;
  /** Credentials of the run, or of any user who may list and delete its objects. */
  readonly credentials?: Credentials;
  /** Name of the run ({@link ConformanceWrites.run}). @default all runs. Security: deletes the objects of running ones, too */
  readonly run?: string;
  /** Ends the deletion, which then rejects. */
  readonly signal?: AbortSignal;
}

/** Objects as `quotes.v1.example.dev default/name`. */
export interface CleanReport {
  readonly deleted: readonly string[];
  /** Objects that could not be deleted. */
  readonly left: readonly string[];
}

/**
 * Deletes the objects that an interrupted run has left: those with its label, of every resource in discovery that can be
 * listed and deleted, in all namespaces, with their finalizers. Deletes namespaces of the run last.
 *
 * @throws Error when the server does not answer, and TypeError for an invalid URL
 */
export async function cleanConformance(options: CleanOptions): Promise<CleanReport> {
  const { url, credentials = {}, run, signal = new AbortController().signal } = options;
  using client = new HttpClient({ url, credentials, signal, timeout: PATIENCE });
  await client.call("/api");
  const slots = limited(AT_ONCE);
  const resources = distinct(checkable((await readReadable(client)).resources));
  const [namespaces, others] = [resources.filter(isNamespaces), resources.filter((one) => !isNamespaces(one))];
  const deleted: string[] = [];
  const left: string[] = [];
  for (const group of [others, namespaces])
    await Promise.all(
      group.map((resource) =>
        slots(async () => {
          for (const { name, path } of await labelled(client, resource, run)) {
            const isGone = await goes(client, { path, resource });
            (isGone ? deleted : left).push(name);
          }
        }),
      ),
    );
  signal.throwIfAborted();
  return { deleted, left };
}

interface Labelled {
  readonly name: string;
  readonly path: string;
}

/** Returns the objects of the run, or of all runs. */
async function labelled(
  client: HttpClient,
  resource: ConformanceResource,
  run: string | undefined,
): Promise<readonly Labelled[]> {
  const base = groupVersionPath(resource);
  const labelSelector = run === undefined ? RUN_LABEL : `${RUN_LABEL}=${run}`;
  const answer = await client.call(`${base}/${resource.name}`, { query: { labelSelector } });
  if (answer.status !== 200) return [];
  const items = listAt(JSON.parse(answer.body.toString("utf8")), "items");
  // A server that ignores selectors also returns objects of others.
  const own = items.filter((item) => {
    const value = at(item, "metadata", "labels", RUN_LABEL);
    return run === undefined ? typeof value === "string" : value === run;
  });
  return own.map((item) => {
    const [namespace, name] = [textAt(item, "metadata", "namespace"), textAt(item, "metadata", "name")];
    const within = namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
    return {
      name: `${resourceName(resource)} ${namespace === "" ? "" : `${namespace}/`}${name}`,
      path: `${base}${within}/${resource.name}/${encodeURIComponent(name)}`,
    };
  });
}

interface Going {
  readonly path: string;
  readonly resource: ConformanceResource;
}

/** Deletes an object, and waits for the end of a namespace. */
async function goes(client: HttpClient, { path, resource }: Going): Promise<boolean> {
  const isGone = await removeObject(client, { path, verbs: resource.verbs });
  if (isGone || !isNamespaces(resource)) return isGone;
  for (const deadline = performance.now() + PATIENCE; performance.now() < deadline; await delay(AGAIN))
    if ((await client.call(path)).status === 404) return true;
  return false;
}

/** Keeps one version of each resource, whose objects are the same. */
function distinct(resources: readonly ConformanceResource[]): readonly ConformanceResource[] {
  const deletable = resources.filter(({ verbs }) => verbs.includes("list") && verbs.includes("delete"));
  return [...new Map(deletable.toReversed().map((one) => [`${one.name}.${one.group}`, one])).values()];
}

function isNamespaces({ group, name }: ConformanceResource): boolean {
  return group === "" && name === "namespaces";
}
