import { at, listAt, textAt } from "../assertions/json.ts";
import type { Slots } from "../assertions/perform.ts";
import { HttpClient, type HttpClientOptions } from "../http/client.ts";
import { RunNamespace } from "./run-namespace.ts";
import { RUN_LABEL, type Writer } from "./writer.ts";

/** However a server behaves, a run ends. */
const LONGEST = 60_000;
/** A namespace may take a while to go. */
const NAMESPACE_GOES = 15_000;

/**
 * Deletes what a run made and its checks left, also after the run was told to stop, and names what stays: by the names
 * that were sent, and by what lists show with the label of the run.
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

async function cleanUpOne(writer: Writer, client: HttpClient): Promise<readonly string[]> {
  // A server that ignores selectors shows others' objects too.
  for (const object of await ownObjects(writer, client)) writer.remember(textAt(object, "metadata", "name"));
  const left: string[] = [];
  for (const { namespace, name } of writer.names) {
    const gone = await writer.remove(name, client).catch(() => false);
    if (!gone) left.push(`${writer.probe.name} ${namespace === "" ? "" : `${namespace}/`}${name}`);
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
