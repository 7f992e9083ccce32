import { at, listAt, textAt } from "../assertions/json.ts";
import type { Slots } from "../assertions/perform.ts";
import { HttpClient, type HttpClientOptions } from "../http/client.ts";
import type { ObjectName } from "../probe/options.ts";
import { RunNamespace } from "./run-namespace.ts";
import { RUN_LABEL, type Writer } from "./writer.ts";

/** Deadline of the cleanup, so that a run ends with any server. */
const LONGEST = 60_000;
/** Deadline for the deletion of a namespace. */
const NAMESPACE_GOES = 15_000;

/**
 * Deletes the objects that the run or its checks left, also after an abort, and returns the names of those that remain. Finds
 * them by the names that were sent, and by lists with the label of the run.
 */
export async function cleanUp(
  probes: readonly { readonly writer: Writer | undefined }[],
  { slots, ...options }: Omit<HttpClientOptions, "signal"> & { readonly slots: Slots },
): Promise<readonly string[]> {
  const writers = probes.flatMap(({ writer }) => (writer === undefined ? [] : [writer]));
  if (writers.length === 0) return [];
  using client = new HttpClient({ ...options, signal: AbortSignal.timeout(LONGEST) });
  const left = await Promise.all(writers.map((writer) => slots(() => cleanUpOne(writer, client))));
  return left.flat();
}

/** Returns the names of all objects that the run may have left, without a request. */
export function namesLeft(probes: readonly { readonly writer: Writer | undefined }[]): readonly string[] {
  return probes.flatMap(({ writer }) =>
    writer === undefined
      ? []
      : [
          ...writer.names.map((name) => leftName(writer, name)),
          ...writer.namespaces.map((name) => `namespaces ${name}`),
        ],
  );
}

function leftName({ probe }: Writer, { namespace, name }: ObjectName): string {
  return `${probe.name} ${namespace === "" ? "" : `${namespace}/`}${name}`;
}

async function cleanUpOne(writer: Writer, client: HttpClient): Promise<readonly string[]> {
  // A server that ignores selectors also returns objects of others.
  for (const object of await ownObjects(writer, client)) writer.remember(textAt(object, "metadata", "name"));
  const left: string[] = [];
  for (const own of writer.names) {
    const gone = await writer.remove(own.name, client).catch(() => false);
    if (!gone) left.push(leftName(writer, own));
  }
  for (const name of writer.namespaces) {
    const gone = await new RunNamespace(writer, name).remove(client, NAMESPACE_GOES).catch(() => false);
    if (!gone) left.push(`namespaces ${name}`);
  }
  return left;
}

async function ownObjects(writer: Writer, client: HttpClient): Promise<readonly unknown[]> {
  if (writer.names.length === 0 || !writer.probe.resource.verbs.includes("list")) return [];
  try {
    const answer = await client.call(writer.path, { query: { labelSelector: writer.selector } });
    const items = listAt(JSON.parse(answer.body.toString("utf8")), "items");
    return items.filter((item) => at(item, "metadata", "labels", RUN_LABEL) === writer.run);
  } catch {
    return [];
  }
}
