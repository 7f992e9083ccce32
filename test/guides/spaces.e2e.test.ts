import { guideTests } from "./support/guide.ts";

guideTests("local-spaces", "spaces", "spaces-view");
