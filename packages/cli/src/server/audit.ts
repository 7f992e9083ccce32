import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { type Audit, audit } from "@virtual-workspaces/framework";
import { type Flags, pathOf } from "../flags/flags.ts";
import { UsageError } from "../process/failure.ts";
import { checked, contentOf } from "../process/files.ts";

/** Days, files and MiB that nobody comes near. */
const MOST = 1_000_000;

/** What the flags say about the audit log, and what is to be said about them. @throws UsageError */
export function auditOf(flags: Flags): { readonly audit?: Audit; readonly warning?: string } {
  const to = flags.text("audit-log-path");
  const policy = pathOf(flags, "audit-policy-file");
  const format = flags.text("audit-log-format") ?? "json";
  if (format !== "json") throw new UsageError(`--audit-log-format ${format}: events are written as json`);
  const target = to === "-" ? process.stdout : fileOf(flags);
  const mode = modeOf(flags);
  if (to === undefined && policy !== undefined)
    return { warning: "--audit-policy-file says what to write, and --audit-log-path not where: nothing is audited" };
  if (to === undefined || target === undefined) return {};
  // Kubernetes' own words for it.
  if (policy === undefined)
    return { warning: "audit policy file was not provided, no events will be recorded for --audit-log-path" };
  contentOf(policy, "audit-policy-file");
  return { audit: checked("--audit-policy-file", () => audit({ policy, to: target, whenFull: mode })) };
}

function fileOf(flags: Flags) {
  const path = pathOf(flags, "audit-log-path");
  if (path === undefined) return undefined;
  if (!existsSync(dirname(path)))
    throw new UsageError(`--audit-log-path ${path}: there is no folder ${dirname(path)}: make it, or name another`);
  return {
    path,
    maxSize: flags.count("audit-log-maxsize", { fallback: 100, most: MOST }) * 2 ** 20,
    maxBackups: flags.count("audit-log-maxbackup", { fallback: 0, most: MOST }),
    maxAge: flags.count("audit-log-maxage", { fallback: 0, most: MOST }),
  };
}

function modeOf(flags: Flags): "wait" | "drop" {
  const mode = flags.text("audit-log-mode") ?? "blocking";
  if (mode === "blocking" || mode === "blocking-strict") return "wait";
  if (mode === "batch") return "drop";
  throw new UsageError(`--audit-log-mode ${mode}: say blocking or batch`);
}
