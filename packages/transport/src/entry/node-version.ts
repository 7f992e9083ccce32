/**
 * The oldest Node.js that the packages run on, for programs that check it before they load anything else.
 *
 * @module
 */
export { nodeTooOld } from "../node-version.ts";
