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
import type { ShownRequest } from "../options.ts";
import type { UpstreamRequest } from "../upstream/answer.ts";
import type { UpstreamResource } from "../upstream/upstream-resource.ts";
import { askList } from "./list.ts";

/** Transformation of an object for a request. */
export type Show = (object: KubeObject, request: ShownRequest) => KubeObject;

/** Returns the bytes of the transformed object. @throws Error if `show` changes its identity, and errors of `show` */
function shownBytes(bytes: Buffer, show: Show, { cluster }: ShownRequest): Buffer {
  const object = parseOwnJson(bytes.toString("utf8")) as KubeObject;
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const shown = show(object, { cluster });
  const now = shown.metadata;
  if (now.name !== name || now.namespace !== namespace || now.uid !== uid || now.resourceVersion !== resourceVersion)
    throw new Error(
      "transform.show changed name, namespace, uid or resource version of an object: return them unchanged",
    );
  const text = stringifyJson(shown);
  const own = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  own.write(text);
  return own;
}

/**
 * Object that is transformed on first read, so that a failure affects only that request or watch. Selectors apply to the
 * original, as at the upstream.
 */
export class ShownObject implements Encoded {
  readonly key: Encoded["key"];
  readonly resourceVersion: string;
  readonly uid: string;
  readonly labels: Encoded["labels"];
  readonly fields: Encoded["fields"];
  readonly #show: Show;
  readonly #request: ShownRequest;
  #source: Buffer | undefined;
  #bytes: Buffer | undefined;

  constructor({ key, resourceVersion, uid, labels, fields, bytes }: Encoded, show: Show, { cluster }: ShownRequest) {
    this.key = key;
    this.resourceVersion = resourceVersion;
    this.uid = uid;
    this.labels = labels;
    this.fields = fields;
    this.#source = bytes;
    this.#show = show;
    this.#request = { cluster };
  }

  get bytes(): Buffer {
    if (this.#bytes === undefined) {
      this.#bytes = shownBytes(this.#source as Buffer, this.#show, this.#request);
      this.#source = undefined;
    }
    return this.#bytes;
  }

  /** Before the transformation, the size of the original, which is what memory holds. */
  get length(): number {
    return (this.#bytes ?? this.#source)?.length ?? 0;
  }
}

/** Transforms a list item by item as it arrives. Memory: its largest item, and one chunk. */
export async function transformedList(
  resource: UpstreamResource,
  scope: Scope,
  { show, ...options }: ListRequest & { readonly show: Show },
): Promise<EncodedList> {
  const answer = await askList(resource, scope, { ...options, gzip: false });
  const pieces = rewritten(answer.body, resource, (bytes) => shownBytes(bytes, show, scope));
  // An early failure can still become a Status.
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
  show: (bytes: Buffer) => Buffer,
): AsyncGenerator<Buffer, void> {
  let out: Buffer[] = [];
  const splitter = new ListSplitter({
    around: (bytes) => void out.push(bytes),
    between: (bytes) => void out.push(bytes),
    item: (bytes) => void out.push(show(bytes)),
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
    throw upstreamFault(asked.origin, `answered with an invalid list: ${error.message}`, { cause: error });
  }
}
