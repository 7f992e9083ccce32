// Faults of an upstream, with their visible effects on clients and readiness.
import type { Fault } from "../../_support/faulty.ts";
import { faults } from "../../_support/faulty.ts";
import { counted, fresh, type Restartable } from "./upstream.ts";

export interface Trouble {
  readonly name: string;
  /** Whether its versions start at 1. */
  readonly counted?: boolean;
  begin(upstream: Restartable): Promise<void> | void;
  /** Ends the fault. @default `wire.heal()` */
  end?(upstream: Restartable): Promise<void> | void;
  /** Possible codes of a get and a list of the forwarded kind; 0: connection cut. @default 503 */
  readonly codes?: readonly number[];
  /** Whether `/readyz` fails meanwhile. */
  readonly unready: boolean;
  /** Whether `onError` is called. @default true */
  readonly told?: boolean;
  /** Whether objects also change before the end. @default true */
  readonly writes?: boolean;
}

const WATCH = /^GET .*[?&]watch=true/;
const LIST = /^GET \S*\/memos(?!\/)(?!.*watch=true)/;

/** All requests get this answer, and open watches end. */
const all =
  (fault: Fault, on: RegExp = /./) =>
  ({ wire }: Restartable): void => {
    wire.fail(fault, { on });
    wire.cut();
  };

const JSON_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** A valid start without an end. */
const endless =
  (beginning: string, piece: string): Fault =>
  async (asked) => {
    let going = await asked.answer(JSON_HEAD + chunk(beginning));
    while (going) going = await asked.answer(chunk(piece));
  };

const META = '"kind":"MemoList","apiVersion":"test.dev/v1"';
const ITEM =
  '{"apiVersion":"test.dev/v1","kind":"Memo","metadata":{"name":"lie","namespace":"a","resourceVersion":"7"}}';
const ended = (body: string): Fault =>
  faults.answer({ status: 200, headers: ["Content-Type", "application/json"], body });
const gone = faults.gone();

export const TROUBLES: readonly Trouble[] = [
  { name: "a black hole", begin: ({ wire }) => wire.blackHole(), unready: true },
  {
    name: "connections that stay dead",
    begin: ({ wire }) => {
      wire.blackHole();
      wire.fail(faults.hang());
    },
    end: ({ wire }) => {
      wire.cut();
      wire.heal();
    },
    unready: true,
  },
  { name: "no server", begin: ({ wire }) => wire.stop(), end: ({ wire }) => wire.start(), unready: true },
  { name: "requests that hang", begin: all(faults.hang()), unready: true },
  { name: "watches that hang", begin: all(faults.hang(), WATCH), codes: [200], unready: false },
  { name: "answers 5 s late", begin: all(faults.delay(5_000)), codes: [200, 503], unready: true, told: false },
  {
    name: "events that are cut",
    begin: all(faults.cut({ lines: 0 }), WATCH),
    codes: [200],
    unready: false,
    told: false,
  },
  {
    name: "an endless line in a watch",
    begin: all(endless('{"type":"ADDED","object":{', "x".repeat(65_536)), WATCH),
    codes: [200],
    unready: false,
  },
  {
    name: "an endless list",
    begin: ({ wire }) => {
      wire.fail(endless(`{${META},"metadata":{"resourceVersion":"9"},"items":[${ITEM}`, `,${ITEM}`.repeat(500)), {
        on: LIST,
      });
      wire.fail(gone, { on: WATCH });
      wire.cut();
    },
    end: ({ wire }) => {
      wire.heal();
      wire.cut();
    },
    codes: [0, 200],
    unready: false,
  },
  {
    name: "a list of blanks",
    begin: ({ wire }) => {
      wire.fail(faults.endless(), { on: LIST });
      wire.fail(gone, { on: WATCH });
      wire.cut();
    },
    codes: [200, 503],
    unready: false,
  },
  {
    name: "lists of a wrong length",
    begin: all(faults.wrongLength(10_000, `{${META},"metadata":{"resourceVersion":"9"},"items":[]}`), LIST),
    codes: [200, 0],
    unready: false,
    told: false,
  },
  {
    name: "lists that end early, but cleanly",
    begin: ({ wire }) => {
      wire.fail(ended(`{${META},"metadata":{"resourceVersion":"9"},"items":[${ITEM},`), { on: LIST });
      wire.fail(gone, { on: WATCH });
      wire.cut();
    },
    codes: [0, 200],
    unready: false,
  },
  { name: "web pages with 200", begin: all(faults.html(200)), unready: true },
  { name: "web pages with 500", begin: all(faults.html(500)), unready: true },
  { name: "a wrong kind everywhere", begin: all(faults.wrongKind()), unready: false },
  {
    name: "lists without a version",
    begin: ({ wire }) => {
      wire.fail(ended(`{${META},"metadata":{},"items":[${ITEM.replace('"lie"', '"stays"')}]}`), { on: LIST });
      wire.fail(gone, { on: WATCH });
      wire.cut();
    },
    codes: [200],
    unready: false,
  },
  { name: "503 with Retry-After", begin: all(faults.unavailable()), unready: true },
  { name: "429", begin: all(faults.tooManyRequests(1)), codes: [429], unready: false },
  { name: "401 for a while", begin: all(faults.unauthorized()), unready: true },
  { name: "410 on every watch", begin: all(gone, WATCH), codes: [200], unready: false, told: false },
  { name: "invalid gzip", begin: all(faults.badGzip()), codes: [503, 200, 0], unready: false },
  {
    name: "a restart with its history",
    begin: (upstream) => upstream.stop(),
    end: (upstream) => upstream.start(),
    unready: true,
  },
  {
    name: "a restart without its history",
    begin: (upstream) => upstream.stop(),
    end: async (upstream) => {
      await upstream.move(fresh());
      await upstream.start();
    },
    unready: true,
  },
  {
    name: "a restart from a backup",
    counted: true,
    begin: (upstream) => upstream.stop(),
    end: async (upstream) => {
      await upstream.move(counted());
      await upstream.start();
    },
    unready: true,
  },
  {
    name: "a history shorter than the break",
    begin: (upstream) => upstream.wire.stop(),
    end: async (upstream) => {
      for (let n = 0; n < 100; n++) await upstream.set("changes", `${n}`);
      await upstream.wire.start();
    },
    unready: true,
  },
];
