import { WORKER_FLAGS } from "../../flags/servers.ts";
import type { FlagSet, Values } from "../../flags/table.ts";
import { UsageError } from "../../process/failure.ts";
import { contentOf } from "../../process/files.ts";
import { workersOf } from "../../server/workers.ts";

/** Numbers and addresses of the processes that serve. */
export interface GroupOptions {
  readonly workers: number;
  /** Other replicas, and the credentials for them. @default no other replicas */
  readonly peers: PeersOptions | undefined;
}

/** Options for other replicas. Paths are absolute. */
export interface PeersOptions {
  /** URLs of all replicas, without a trailing slash. The replica's own URL is ignored. */
  readonly urls: readonly string[];
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Flags for several processes. Replicas have those of kube-apiserver's peer proxy, and `--peers`. */
export const GROUP_FLAGS = {
  ...WORKER_FLAGS,
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

/** Files that kube-apiserver's peer proxy needs, too. */
const FILES = ["peer-ca-file", "proxy-client-cert-file", "proxy-client-key-file"] as const;

/** Reads the flags for several processes. @throws UsageError */
export function groupOf(flags: GroupFlags): GroupOptions {
  return { workers: workersOf(flags), peers: peersOf(flags) };
}

function peersOf(flags: GroupFlags): PeersOptions | undefined {
  const urls = flags.peers ?? [];
  const [caFile, certFile, keyFile] = FILES.map((name) => flags[name]);
  const missing = FILES.filter((name) => flags[name] === undefined);
  if (urls.length === 0 && missing.length === FILES.length) return undefined;
  if (urls.length === 0 || caFile === undefined || certFile === undefined || keyFile === undefined)
    throw new UsageError(
      `--peers, ${FILES.map((name) => `--${name}`).join(", ")} must be set together: ${urls.length === 0 ? "--peers" : `--${missing[0]}`} is missing`,
    );
  const wrong = urls.find((url) => !/^https:\/\/[^/?#@]+\/?$/.test(url) || !URL.canParse(url));
  if (wrong !== undefined)
    throw new UsageError(
      `invalid value "${wrong}" for --peers: use URLs of replicas, separated by commas: https://a:6444,https://b:6444`,
    );
  for (const name of FILES) checkPem(flags, name);
  return { urls: urls.map((url) => url.replace(/\/$/, "")), caFile, certFile, keyFile };
}

function checkPem(flags: GroupFlags, name: (typeof FILES)[number]): void {
  const path = flags[name] ?? "";
  if (!contentOf(path, name).includes("-----BEGIN "))
    throw new UsageError(`invalid file --${name} ${path}: it contains no PEM`);
}
