/**
 * Names, texts and rules of the checks that `virtual-workspaces doctor` and the page of the console have in common.
 *
 * @module
 */
export { DOCTOR_TEXTS, type IndexLag, indexLags, type ReadinessCheck, readinessChecks } from "../doctor.ts";
