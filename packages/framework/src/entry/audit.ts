/**
 * Kubernetes' audit log: policies, levels and stages.
 *
 * @module
 */

export { type Audit, type AuditOptions, audit } from "../observe/audit/audit.ts";
export type { AuditLevel, AuditPolicy, AuditResources, AuditRule, AuditStage } from "../observe/audit/check-policy.ts";
export { type LineWriter, lineWriter } from "../observe/log/target.ts";
