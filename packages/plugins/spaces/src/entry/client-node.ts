/**
 * Spaces for clients of the package `@kubernetes/client-node`, which must be installed beside it.
 *
 * @module
 */

export { kubeConfig } from "../client/kube-config.ts";
