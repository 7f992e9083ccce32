// Steps on each kind.
import { Api } from "../api.ts";

export const plain: Api = new Api("Plain");
export const card: Api = new Api("Card", { namespaced: false });
export const dual: Api = new Api("Dual");
export const dualAlpha: Api = new Api("Dual", { version: "v1alpha1" });
export const machine: Api = new Api("Machine");
export const waiter: Api = new Api("Waiter");
export const rich: Api = new Api("Rich");
export const formatted: Api = new Api("Formatted");
export const bounded: Api = new Api("Bounded");
export const listed: Api = new Api("Listed");
export const ruled: Api = new Api("Ruled");
