// The rival of the store in etcd: a gRPC client of the same etcd, with the same codecs.
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { RangeRequest, RequestOp, WatchCreateRequest } from "../../packages/store/src/etcd/generated/rpc.ts";
import { type Method, range, txn, watch } from "../../packages/store/src/etcd/methods.ts";
import { serveBare } from "./bare-handler.ts";
import { type InEtcd, TURNS } from "./stored-kinds.ts";

/** Writes that wait for the disk together. */
const TOGETHER = 2048;
/** How long etcd may take to start, ms. */
const START = 10_000;

let client: Client;
let place: InEtcd;

serveBare<InEtcd>({
  open: async (asked) => {
    place = asked;
    client = connect(asked);
    await new Promise<void>((resolve, reject) => {
      client.waitForReady(Date.now() + START, (error) => (error === undefined ? resolve() : reject(error)));
    });
  },
  get: (key) => get(client, under(place, key)),
  put: (key, value) => put(under(place, key), value),
  range: async (from, to) => {
    const asked = RangeRequest.fromPartial({ key: under(place, from), rangeEnd: under(place, to) });
    return (await ask(client, range, asked)).kvs.map(({ value }) => value);
  },
  /** As the objects of ours, so many keys take turns. */
  keep: async (lines) => {
    const before = await put(under(place, "events"), Buffer.alloc(0));
    for (let at = 0; at < lines.length; at += TOGETHER)
      await Promise.all(
        lines.slice(at, at + TOGETHER).map((line, n) => put(under(place, `events/${(at + n) % TURNS}`), line)),
      );
    return before;
  },
  async *replay(after, signal) {
    const call = client.makeBidiStreamRequest(watch.path, watch.encode, watch.decode, new Metadata());
    signal.addEventListener("abort", () => call.cancel(), { once: true });
    const bounds = { key: under(place, "events/"), rangeEnd: under(place, "events0") };
    call.write({ createRequest: WatchCreateRequest.fromPartial({ ...bounds, startRevision: after + 1 }) });
    for await (const { events } of call as AsyncIterable<ReturnType<typeof watch.decode>>)
      if (events.length > 0) yield Buffer.concat(events.flatMap(({ kv }) => kv?.value ?? []));
  },
  openAndGet: async (asked, key) => {
    const began = performance.now();
    const opened = connect(asked);
    await get(opened, under(asked, key));
    const ms = performance.now() - began;
    opened.close();
    return ms;
  },
});

function connect({ endpoint }: InEtcd): Client {
  return new Client(new URL(endpoint).host, credentials.createInsecure(), {
    "grpc.max_receive_message_length": -1,
    "grpc.use_local_subchannel_pool": 1,
  });
}

function under({ prefix }: InEtcd, key: string): Buffer {
  return Buffer.from(`${prefix}/${key}`);
}

async function get(from: Client, key: Buffer): Promise<Buffer> {
  const [found] = (await ask(from, range, RangeRequest.fromPartial({ key }))).kvs;
  if (found === undefined) throw new Error(`there is no ${key}`);
  return found.value;
}

/** @returns the revision of it */
async function put(key: Buffer, value: Buffer): Promise<number> {
  const success = [RequestOp.fromPartial({ requestPut: { key, value } })];
  return (await ask(client, txn, { compare: [], success, failure: [] })).header?.revision ?? 0;
}

function ask<In, Out>(to: Client, { path, encode, decode }: Method<In, Out>, message: In): Promise<Out> {
  return new Promise((resolve, reject) => {
    to.makeUnaryRequest(path, encode, decode, message, (error, answer) => {
      if (error === null) resolve(answer as Out);
      else reject(error);
    });
  });
}
