import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { parseOwnJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { upstreamFailure, upstreamFault } from "@virtual-workspaces/framework/proxy";
import {
  type Encoded,
  type EncodedList,
  type ListRequest,
  ListSplitter,
  type Scope,
} from "@virtual-workspaces/framework/storage";
import type { UpstreamRequest } from "../upstream/answer.ts";
import type { UpstreamResource } from "../upstream/upstream-resource.ts";
import { askList } from "./list.ts";

/** What becomes of each object on its way. */
export type Show = (object: KubeObject) => KubeObject;

/** An object's bytes as they are shown. @throws Error when `show` makes another object of it, and what it throws */
function shownBytes(bytes: Buffer, show: Show): Buffer {
  const object = parseOwnJson(bytes.toString("utf8")) as KubeObject;
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const shown = show(object);
  const now = shown.metadata;
  if (now.name !== name || now.namespace !== namespace || now.uid !== uid || now.resourceVersion !== resourceVersion)
    throw new Error("transform.show must leave name, namespace, uid and resource version of an object as they are");
  const text = stringifyJson(shown);
  const own = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  own.write(text);
  return own;
}

/**
 * The object as it is shown, made when somebody reads it: what cannot be shown ends that request or watch, and no other. It
 * is selected by what it is at the other server, as there.
 */
export class ShownObject implements Encoded {
  readonly key: Encoded["key"];
  readonly resourceVersion: string;
  readonly uid: string;
  readonly labels: Encoded["labels"];
  readonly fields: Encoded["fields"];
  readonly #show: Show;
  #source: Buffer | undefined;
  #bytes: Buffer | undefined;

  constructor({ key, resourceVersion, uid, labels, fields, bytes }: Encoded, show: Show) {
    this.key = key;
    this.resourceVersion = resourceVersion;
    this.uid = uid;
    this.labels = labels;
    this.fields = fields;
    this.#source = bytes;
    this.#show = show;
  }

  get bytes(): Buffer {
    if (this.#bytes === undefined) {
      this.#bytes = shownBytes(this.#source as Buffer, this.#show);
      this.#source = undefined;
    }
    return this.#bytes;
  }

  /** Until it has been made, as long as what it is made of: it is kept by that. */
  get length(): number {
    return (this.#bytes ?? this.#source)?.length ?? 0;
  }
}

/** A list rewritten item by item as it comes: it takes as much memory as its largest item, and a piece. */
export async function transformedList(
  resource: UpstreamResource,
  scope: Scope,
  { show, ...options }: ListRequest & { readonly show: Show },
): Promise<EncodedList> {
  const answer = await askList(resource, scope, { ...options, gzip: false });
  const pieces = rewritten(answer.body, resource, show);
  // What fails at once can still be answered with a Status.
  const first = await pieces.next();
  return { body: joined(first, pieces) };
}

async function* joined(
  first: IteratorResult<Buffer, void>,
  rest: AsyncGenerator<Buffer, void>,
): AsyncGenerator<Buffer, void> {
  try {
    if (first.done !== true) yield first.value;
    yield* rest;
  } finally {
    await rest.return();
  }
}

async function* rewritten(
  body: AsyncIterable<Buffer>,
  asked: UpstreamRequest,
  show: Show,
): AsyncGenerator<Buffer, void> {
  let out: Buffer[] = [];
  const splitter = new ListSplitter({
    around: (bytes) => void out.push(bytes),
    between: (bytes) => void out.push(bytes),
    item: (bytes) => void out.push(shownBytes(bytes, show)),
  });
  try {
    for await (const piece of body) {
      splitter.push(piece);
      if (out.length > 0) yield Buffer.concat(out);
      out = [];
    }
    splitter.end();
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw upstreamFailure(error, asked);
    throw upstreamFault(asked.origin, `answered what is no list: ${error.message}`, { cause: error });
  }
}
