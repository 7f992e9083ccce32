import { texts as common } from "../texts.ts";

/** Texts about panels. */
export const texts = {
  ago: common.object.ago,
  loading: common.loading,
  again: common.errors.again,
  failed: (title: string) => `The panel "${title}" has failed.`,
  goesOn: "The rest of the page works.",
  noMount: "its module exports no function: export mount, or a function by default",
  notLoaded: (message: string) => `its module cannot be loaded: ${message}`,
  /** Browsers do not name the file that is missing. */
  orImported:
    "The reason may be a file that the module imports: it must be in files of the panel, and no other host is allowed. The console of the browser names it.",
  at: (place: string) => `At ${place}. The console of the browser has the whole error.`,
  elsewhere: (path: string) => `the path "${path}" leads to another server: use a path below the URL of this one`,
} as const;
