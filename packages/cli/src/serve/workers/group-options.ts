import { availableParallelism } from "node:os";
import type { FlagSet, Values } from "../../flags/table.ts";
import { UsageError } from "../../process/failure.ts";
import { contentOf } from "../../process/files.ts";

/** How many processes serve, here and elsewhere. */
export interface GroupOptions {
  readonly workers: number;
  /** Other replicas, and by what they know this one. @default there are none */
  readonly peers: PeersOptions | undefined;
}

/** Paths are absolute. */
export interface PeersOptions {
  /** Of all replicas; one that is this one's own is left out. Without a slash at the end. */
  readonly urls: readonly string[];
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Flags about several processes: those of replicas are kube-apiserver's for its peer proxy, and what that finds out otherwise. */
export const GROUP_FLAGS = {
  workers: {
    type: "text",
    value: "number",
    default: "1",
    help: "Processes that share the port; 0 for one for each processor.",
  },
  peers: { type: "list", value: "urls", help: "Other replicas; this one may be among them." },
  "peer-ca-file": {
    type: "path",
    value: "file",
    help: "Authorities that certify replicas, as servers and as clients, and nothing else.",
  },
  "proxy-client-cert-file": { type: "path", value: "file", help: "Client certificate for other replicas." },
  "proxy-client-key-file": { type: "path", value: "file", help: "Key of --proxy-client-cert-file." },
} as const satisfies FlagSet;

type GroupFlags = Values<typeof GROUP_FLAGS>;

/** Those of kube-apiserver's peer proxy, and what it finds out otherwise. */
const FILES = ["peer-ca-file", "proxy-client-cert-file", "proxy-client-key-file"] as const;
const MOST = 512;

/** What flags say about several processes. @throws UsageError */
export function groupOf(flags: GroupFlags): GroupOptions {
  return { workers: workersOf(flags.workers), peers: peersOf(flags) };
}

function workersOf(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count > MOST)
    throw new UsageError(`--workers ${text}: give a number up to ${MOST}, or 0 for one for each processor`);
  return count === 0 ? availableParallelism() : count;
}

function peersOf(flags: GroupFlags): PeersOptions | undefined {
  const urls = flags.peers ?? [];
  const [caFile, certFile, keyFile] = FILES.map((name) => flags[name]);
  const missing = FILES.filter((name) => flags[name] === undefined);
  if (urls.length === 0 && missing.length === FILES.length) return undefined;
  if (urls.length === 0 || caFile === undefined || certFile === undefined || keyFile === undefined)
    throw new UsageError(
      `--peers, ${FILES.map((name) => `--${name}`).join(", ")} go together: ${urls.length === 0 ? "--peers" : `--${missing[0]}`} is missing`,
    );
  const wrong = urls.find((url) => !/^https:\/\/[^/?#@]+\/?$/.test(url) || !URL.canParse(url));
  if (wrong !== undefined)
    throw new UsageError(
      `--peers ${wrong || '""'}: give URLs of replicas with commas between: https://a:6444,https://b:6444`,
    );
  for (const name of FILES) checkPem(flags, name);
  return { urls: urls.map((url) => url.replace(/\/$/, "")), caFile, certFile, keyFile };
}

function checkPem(flags: GroupFlags, name: (typeof FILES)[number]): void {
  const path = flags[name] ?? "";
  if (!contentOf(path, name).includes("-----BEGIN ")) throw new UsageError(`--${name} ${path}: it holds no PEM`);
}
