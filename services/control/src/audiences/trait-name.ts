/**
 * The trait of an audience: its name in snake_case (docs/specification.md, rule 13.1).
 *
 * The steps: normalize to Unicode NFKC (𝓐 becomes A); remove apostrophes between letters; split at every other character that
 * is not a letter, digit or combining mark; split before a capital that follows a small letter or a digit (`bigSpenders`,
 * `top10Users`), and before the last of several capitals if small letters follow (`HTTPServer`); lower-case the words and join
 * them with underscores. Digits stay in their word. Letters of scripts without capitals are unchanged.
 */

const apostrophe = /(?<=\p{L})['’ʼ](?=\p{L})/gu;
const separators = /[^\p{L}\p{N}\p{M}]+/u;
const wordEnds = /(?<=[\p{Ll}\p{N}]\p{M}*)(?=\p{Lu})|(?<=\p{Lu}\p{M}*)(?=\p{Lu}\p{M}*\p{Ll})/u;

/** The name of the trait; empty if the audience's name has no letter and no digit. */
export function traitName(audienceName: string): string {
  return audienceName
    .normalize('NFKC')
    .replace(apostrophe, '')
    .split(separators)
    .flatMap((part) => part.split(wordEnds))
    .map((word) => word.toLowerCase())
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .join('_')
    .normalize('NFKC');
}
