// Many bad requests over real connections. Every answer must be complete, and either a Status or the requested document.
// Nothing may hang or get a 500, and good requests must succeed throughout.
import { TLSSocket } from "node:tls";
import { type BadRequest, badRequest } from "./bad-requests.ts";
import { Random } from "./random.ts";
import { Wire, type WireAnswer, type WireOptions } from "./wire.ts";

export interface StormOptions {
  readonly port: number;
  readonly seed: number;
  /** Minimum number of requests. */
  readonly requests: number;
  /** Number of concurrent connections. @default 32 */
  readonly connections?: number;
  readonly tls?: WireOptions["tls"];
}

/** Number of answers by code. */
export type Tally = Map<number, number>;

/** @throws Error that names the seed of the faulty connection, and what was sent on it */
export async function storm({ port, seed, requests, connections = 32, tls }: StormOptions): Promise<Tally> {
  const tally: Tally = new Map();
  let sent = 0;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (sent < requests) {
      const own = seed + next++;
      const script = scriptOf(new Random(own));
      sent += script.length;
      try {
        using wire = await Wire.open(port, { patience: 10_000, ...(tls === undefined ? {} : { tls }) });
        await play(wire, script, { random: new Random(~own), tally });
      } catch (error) {
        const bytes = script.map((request) => `${request.ending} ${JSON.stringify(request.bytes.slice(0, 600))}`);
        throw new Error(`connection of seed ${own}: ${error}\n${bytes.join("\n")}`, { cause: error });
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return tally;
}

/** Returns the requests of one connection: any number that leave it open, then perhaps one that does not. */
function scriptOf(random: Random): BadRequest[] {
  const script: BadRequest[] = [];
  while (script.length < 12) {
    const request = badRequest(random);
    script.push(request);
    if (request.ending !== "stays" && request.ending !== "mayClose") break;
  }
  return script;
}

interface Playing {
  readonly random: Random;
  readonly tally: Tally;
}

async function play(wire: Wire, script: readonly BadRequest[], playing: Playing): Promise<void> {
  const { random, tally } = playing;
  if (random.chance(0.04)) return leaveEarly(wire, script, random);
  const last = script.at(-1)?.ending;
  // A broken request may swallow earlier ones that are in flight. Others get one answer each, pipelined or not.
  const pipelined = last === "breaks" || random.chance(0.5);
  if (pipelined) await send(wire, script.map(({ bytes }) => bytes).join(""), random);
  for (const { bytes, method, ending } of script) {
    if (!pipelined) await send(wire, bytes, random);
    if (ending === "breaks") wire.socket.end();
    if (ending === "streams") {
      await wire.begun();
      return;
    }
    const answer = await wire.answer(method);
    if ((answer === undefined && last === "breaks") || answer?.status === 101) return;
    check(answer, method);
    tally.set(answer?.status ?? 0, (tally.get(answer?.status ?? 0) ?? 0) + 1);
    if (ending === "mayClose" && answer?.headers["connection"] === "close") return;
  }
  if (last === "stays" || last === "mayClose") await askForHealth(wire);
  else while ((await wire.answer()) !== undefined);
}

/** Verifies that the connection still serves a good request. */
async function askForHealth(wire: Wire): Promise<void> {
  wire.request("GET /livez HTTP/1.1", "Host: x");
  const answer = await wire.answer();
  if (answer?.status !== 200 || answer.body !== "ok")
    throw new Error(`no healthy answer afterwards: ${JSON.stringify(answer)}`);
}

/** Sends the bytes in one piece, or in several that arrive one by one. */
async function send(wire: Wire, bytes: string, random: Random): Promise<void> {
  if (random.chance(0.8)) {
    wire.send(bytes);
    return;
  }
  const size = Math.max(1, Math.ceil(bytes.length / (1 + random.below(8))));
  for (let at = 0; at < bytes.length; at += size) {
    wire.send(bytes.slice(at, at + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function leaveEarly(wire: Wire, script: readonly BadRequest[], random: Random): Promise<void> {
  const bytes = script.map((request) => request.bytes).join("");
  await send(wire, bytes.slice(0, random.below(bytes.length + 1)), random);
  if (random.chance(0.5) && !(wire.socket instanceof TLSSocket)) wire.socket.resetAndDestroy();
  else wire.socket.destroy();
}

function check(answer: WireAnswer | undefined, method: string): void {
  if (answer === undefined) throw new Error("no answer");
  const { status, headers, body } = answer;
  const type = headers["content-type"] ?? "";
  if (status === 500) throw new Error(`500: ${body}`);
  if (status < 400 || method === "HEAD") {
    if (method !== "HEAD" && status === 200 && type === "application/json") JSON.parse(body);
    return;
  }
  if (type.startsWith("text/plain") && /check failed\n$/.test(body)) return;
  // Names and texts are readable in CBOR too, behind a byte with their length.
  if (type === "application/cbor" && body.includes("DkindFStatus") && body.includes("Gmessage")) return;
  const parsed = JSON.parse(body);
  if (type !== "application/json" || parsed.kind !== "Status" || parsed.code !== status || !parsed.message)
    throw new Error(`${status} without a Status: ${body}`);
}
