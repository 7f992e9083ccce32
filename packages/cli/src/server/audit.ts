import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type Audit, type AuditOptions, audit } from "@virtual-workspaces/framework/audit";
import type { AUDIT_FLAGS } from "../flags/servers.ts";
import type { Values } from "../flags/table.ts";
import { UsageError } from "../process/failure.ts";
import { checked, contentOf } from "../process/files.ts";

type AuditFlags = Values<typeof AUDIT_FLAGS>;

/** Reads the flags for the audit log. The result may contain a warning. @throws UsageError */
export function auditOf(flags: AuditFlags): { readonly audit?: Audit; readonly warning?: string } {
  const to = flags["audit-log-path"];
  const policy = flags["audit-policy-file"];
  const format = flags["audit-log-format"];
  if (format !== "json") throw new UsageError(`invalid value "${format}" for --audit-log-format: use json`);
  const target = to === "-" ? process.stdout : fileOf(flags);
  const mode = modeOf(flags);
  if (to === undefined && policy !== undefined)
    return { warning: "--audit-policy-file has no effect without --audit-log-path: nothing is audited" };
  if (to === undefined || target === undefined) return {};
  // Kubernetes' own message.
  if (policy === undefined)
    return { warning: "audit policy file was not provided, no events will be recorded for --audit-log-path" };
  contentOf(policy, "audit-policy-file");
  return { audit: checked("--audit-policy-file", () => audit({ policy, to: target, ...mode })) };
}

function fileOf(flags: AuditFlags) {
  if (flags["audit-log-path"] === undefined) return undefined;
  const path = resolve(flags["audit-log-path"]);
  if (!existsSync(dirname(path)))
    throw new UsageError(
      `--audit-log-path ${path}: folder ${dirname(path)} does not exist: create it, or use another one`,
    );
  return {
    path,
    maxSize: flags["audit-log-maxsize"] * 2 ** 20,
    maxBackups: flags["audit-log-maxbackup"],
    maxAge: flags["audit-log-maxage"],
  };
}

function modeOf(flags: AuditFlags): Pick<AuditOptions, "whenFull" | "blocking"> {
  const mode = flags["audit-log-mode"];
  if (mode === "blocking" || mode === "blocking-strict") return { whenFull: "wait", blocking: true };
  if (mode === "batch") return { whenFull: "drop" };
  throw new UsageError(`invalid value "${mode}" for --audit-log-mode: use blocking or batch`);
}
