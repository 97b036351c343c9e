/** What was stored on the phone is read field by field: an older or a broken store never breaks the app. */

import { expect, test } from "vitest";
import { readSettings, USUAL } from "../src/state/settings";

test("settings that were stored are read, and what is none of them is left out", () => {
  expect(readSettings(null)).toEqual(USUAL);
  expect(readSettings({ theme: "light", toured: true, language: "tlh", more: 1 })).toEqual({
    ...USUAL,
    theme: "light",
    toured: true,
  });
});
