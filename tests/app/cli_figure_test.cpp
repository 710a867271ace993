#include <gtest/gtest.h>

#include <set>

#include "app/program.h"
#include "view/view_names.h"

namespace headlight {
namespace {

using namespace program;

Strings figure(Strings words) {
  words.insert(words.begin(), "figure");
  return small(words);
}

TEST(FigureCommand, WritesEveryFormatAndView) {
  const Folder folder;
  for (const std::string view : {"heads", "head", "text", "flow", "glance", "inside", "diagram"})
    for (const std::string ending : {"svg", "pdf", "png"}) {
      const std::string file = (folder / (view + "." + ending)).string();
      const Ran ran = run(figure({"--view", view, "--text", "我请李雷帮我订了去北京的机票", "-o", file}));
      EXPECT_EQ(ran.status, 0) << ran.err;
      EXPECT_TRUE(ran.out.empty());
      const auto bytes = read_file(file);
      ASSERT_TRUE(bytes) << view << ending;
      const std::string_view begin = ending == "svg" ? "<?xml" : ending == "pdf" ? "%PDF-1." : "\x89PNG";
      EXPECT_TRUE(bytes->starts_with(begin)) << view << ending;
    }
  EXPECT_EQ(folder.names().size(), 21u) << "and nothing beside them";
}

TEST(FigureCommand, EarlierNamesOfViewsAreTakenAndInNoHelp) {
  const Folder folder;
  const auto drawn = [&](const std::string& view) {
    const std::string file = (folder / (view + ".svg")).string();
    const Ran ran = run(figure({"--view", view, "-o", file}));
    EXPECT_EQ(ran.status, 0) << ran.err;
    return *read_file(file);
  };
  EXPECT_EQ(drawn("heads"), drawn("grid"));
  EXPECT_EQ(drawn("glance"), drawn("layers"));
  EXPECT_EQ(drawn("inside"), drawn("steps"));
  for (const EarlierName& view : kEarlierViewNames) EXPECT_EQ(present_view_name(view.earlier), view.name);
  for (const auto& [command, views] :
       {std::pair("figure", "{heads,sentence,head,text,glance,inside,writers,lens,diagram,"),
        std::pair("screenshot", "{heads,sentence,head,text,glance,relations,inside,writers,lens,diagram,")}) {
    const std::string help = run({command, "--help"}).out;
    EXPECT_TRUE(contains(help, views)) << help;
    for (const char* earlier : {"grid", "layers,", "steps,", "--grid"})
      EXPECT_FALSE(contains(help, earlier)) << earlier;
  }
  EXPECT_TRUE(contains(refused(figure({"--view", "train", "-o", (folder / "x.svg").string()})),
                       "--view: expected heads, sentence, head, "));
}

TEST(FigureCommand, AHeadIsNamedInEveryForm) {
  const Folder folder;
  int count = 0;
  const auto drawn = [&](Strings words) {
    const std::string file = (folder / (std::to_string(count++) + ".svg")).string();
    words.insert(words.begin(),
                 {"figure", "--random", "--d-model", "8", "--num-heads", "2", "--layers", "2", "--view", "head"});
    words.insert(words.end(), {"-o", file});
    const Ran ran = run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return *read_file(file);
  };
  const std::string picture = drawn({"--layer", "1", "--head", "1"});
  EXPECT_TRUE(contains(picture, "svg"));
  EXPECT_NE(picture, drawn({"--head", "1"})) << "of layer 0";
  for (const Strings& words : {Strings{"--head", "1.1"}, Strings{"--head", "L1.H1"}, Strings{"--head", "L1·H1"},
                               Strings{"--layer", "1", "--head", "1.1"}, Strings{"--head", "self:1.1"}})
    EXPECT_EQ(picture, drawn(words)) << words.back();
  EXPECT_TRUE(contains(refused(figure({"--layer", "1", "--head", "0.1", "-o", "x.svg"})),
                       "--head: expected a head of --layer 1, found 0.1"));
  EXPECT_TRUE(contains(refused(figure({"--stack", "self", "--head", "cross:0.1", "-o", "x.svg"})),
                       "--head: expected a head of --stack self, found cross:0.1"));
  EXPECT_TRUE(contains(refused(figure({"--head", "first", "-o", "x.svg"})), "--head: expected HEAD, LAYER.HEAD or "));
}

TEST(FigureCommand, OwnRangesWordsAndFoldsAreOtherPictures) {
  const Folder folder;
  int count = 0;
  const auto drawn = [&](Strings words) {
    const std::string file = (folder / (std::to_string(count++) + ".svg")).string();
    words.insert(words.end(), {"-o", file});
    const Ran ran = run(figure(words));
    EXPECT_EQ(ran.status, 0) << ran.err;
    return *read_file(file);
  };
  for (const std::string view : {"heads", "glance"})
    EXPECT_NE(drawn({"--view", view}), drawn({"--view", view, "--own-range"})) << view;
  EXPECT_NE(drawn({"--view", "inside", "--query", "1", "--key", "1"}),
            drawn({"--view", "inside", "--query", "1", "--key", "2"}));
}

TEST(FigureCommand, MapsOfOtherKindsAreOtherPictures) {
  const Folder folder;
  std::vector<std::string> all;
  for (const std::string kind : {"weights", "norms", "rollout"}) {
    const std::string file = (folder / (kind + ".svg")).string();
    const Ran ran = run(figure({"--maps", kind, "-o", file}));
    EXPECT_EQ(ran.status, 0) << ran.err;
    all.push_back(*read_file(file));
  }
  EXPECT_NE(all[0], all[1]);
  EXPECT_NE(all[1], all[2]);
  const std::string plain = (folder / "plain.svg").string();
  EXPECT_EQ(run(figure({"-o", plain})).status, 0);
  EXPECT_EQ(all[0], *read_file(plain)) << "weights are what is drawn without a word";
}

TEST(FigureCommand, TwoRunsWriteTheSameBytes) {
  const Folder folder;
  for (const std::string ending : {"svg", "pdf", "png"}) {
    const std::string a = (folder / ("a." + ending)).string(), b = (folder / ("b." + ending)).string();
    EXPECT_EQ(run(figure({"--theme", "dark", "--language", "zh", "-o", a})).status, 0);
    EXPECT_EQ(run(figure({"--theme", "dark", "--language", "zh", "--threads", "1", "-o", b})).status, 0);
    EXPECT_EQ(*read_file(a), *read_file(b));
  }
}

TEST(FigureCommand, AnOrderAndChosenHeadsAreOtherPictures) {
  const Folder folder;
  const auto drawn = [&](const std::string& view, Strings words) {
    const std::string file = (folder / "one.svg").string();
    words.insert(words.begin(), {"figure", "--random", "--d-model", "16", "--num-heads", "4", "--layers", "2", "--text",
                                 "a b c a b", "--view", view, "-o", file});
    const Ran ran = run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return *read_file(file);
  };
  for (const std::string view : {"heads", "glance"}) {
    std::set<std::string> pictures{drawn(view, {})};
    EXPECT_TRUE(pictures.contains(drawn(view, {"--order", "layer"}))) << "the default";
    pictures.insert(drawn(view, {"--order", "entropy"}));
    pictures.insert(drawn(view, {"--order", "entropy", "--ascending"}));
    pictures.insert(drawn(view, {"--order", "effect"}));
    pictures.insert(drawn(view, {"--order", "found", "--from", "b", "--to", "a"}));
    pictures.insert(drawn(view, {"--heads", "1.1,0.3"}));
    pictures.insert(drawn(view, {"--heads", "0.3,1.1"}));
    pictures.insert(drawn(view, {"--heads", "0.3,1.1", "--order", "entropy"}));
    EXPECT_EQ(pictures.size(), 8u) << view;
  }
}

TEST(FigureCommand, MistakesAreOneLineAndWriteNothing) {
  const Folder folder;
  const auto wrong = [&](Strings words, const std::string& file = "x.svg") {
    words.insert(words.end(), {"-o", (folder / file).string()});
    const std::string line = refused(figure(words));
    EXPECT_TRUE(folder.empty()) << line;
    return line;
  };
  EXPECT_TRUE(contains(wrong({}, "x.gif"), "ending: expected .svg, .pdf or .png, found .gif"));
  EXPECT_TRUE(contains(wrong({}, "x"), "ending: expected .svg, .pdf or .png, found none"));
  EXPECT_TRUE(contains(wrong({"--maps", "norms", "--view", "compare"}),
                       "--maps norms: expected --view heads, head or glance, found --view compare"));
  EXPECT_TRUE(contains(wrong({"--maps", "norms", "--view", "flow"}),
                       "--maps norms: expected --view heads, head or glance, found --view flow"));
  EXPECT_TRUE(contains(wrong({"--view", "inside", "--query", "77"}), "figure: query: expected 0 to"));
  EXPECT_TRUE(contains(wrong({"--view", "inside", "--key", "77"}), "figure: key: expected 0 to"));
  EXPECT_TRUE(contains(wrong({"--view", "steps", "--fold", "words"}),
                       "--fold: expected --view heads, head, text, glance, flow or compare"));
  EXPECT_TRUE(contains(wrong({"--fold", "letters"}), "--fold"));
  EXPECT_TRUE(
      contains(wrong({"--maps", "rollout", "--arch", "encoder-decoder", "--target", "我", "--stack", "cross"}),
               "--maps rollout: expected self-attention of one sequence, found queries and keys of two sequences"));
  EXPECT_TRUE(contains(wrong({"--layer", "1"}), "figure: layer: expected 0 to 0, found 1"));
  EXPECT_TRUE(contains(wrong({"--head", "2"}), "figure: head: expected 0 to 1, found 2"));
  EXPECT_TRUE(
      contains(wrong({"--stack", "cross"}), "figure: stack: expected self, the model has one stack, found cross"));
  EXPECT_TRUE(
      contains(wrong({"--width", "39"}), "--width: expected column, slide, or 40 to 1000 (millimetres), found 39"));
  EXPECT_TRUE(contains(wrong({"--width", "wide"}), "--width: expected column"));
  EXPECT_TRUE(contains(wrong({"--view", "flow", "--threshold", "2"}), "--threshold: expected 0 to 1"));
  EXPECT_TRUE(contains(wrong({"--view", "flow", "--heads", "0"}), "--heads: expected LAYER.HEAD or LAYER.*, found 0"));
  EXPECT_TRUE(contains(wrong({"--view", "flow", "--heads", "0.7"}), "--heads: head: expected 0 to 1, found 0.7"));
  EXPECT_TRUE(contains(wrong({"--view", "flow", "--heads", "3.*"}), "--heads: layer: expected 0 to 0, found 3.*"));
  EXPECT_TRUE(contains(wrong({"--view", "head", "--heads", "0.1"}),
                       "--heads: expected --view heads, glance or flow, found --view head"));
  EXPECT_TRUE(contains(wrong({"--order", "size"}), "--order: expected layer, entropy, "));
  EXPECT_TRUE(contains(wrong({"--order", "entropy", "--view", "head"}),
                       "--order: expected --view heads or glance, found --view head"));
  EXPECT_TRUE(contains(wrong({"--order", "entropy", "--maps", "rollout"}), "--order: expected maps of heads"));
  EXPECT_TRUE(contains(wrong({"--ascending"}), "--ascending: expected --order, found none"));
  EXPECT_TRUE(contains(wrong({"--order", "found"}), "--order found: expected --from and --to"));
  EXPECT_TRUE(contains(wrong({"--order", "entropy", "--to", "a"}), "--order entropy: expected --order found"));
  EXPECT_TRUE(contains(wrong({"--view", "tree"}), "--view"));
  EXPECT_TRUE(
      contains(wrong({"--view", "compare"}), "--against: expected [SOURCE] [REQUEST], or a question with edits"));
  EXPECT_TRUE(
      contains(wrong({"--view", "compare", "--against", "--no-such"}), "--against: expected [SOURCE] [REQUEST]"));
  EXPECT_TRUE(contains(wrong({"--text", "a\nb"}), "figure: sentences: expected one, found 2"));
  EXPECT_TRUE(contains(refused({"figure"}), "--output"));
  EXPECT_TRUE(contains(refused(figure({"-o", "/no/such/folder/x.svg"})), "/no/such/folder/x.svg"));
}

TEST(FigureCommand, TwoAnswersAreDrawnSideBySide) {
  const Folder folder;
  const std::string same = (folder / "same.svg").string(), other = (folder / "other.svg").string(),
                    edits = (folder / "edits.svg").string();
  const std::string small = "--random --d-model 8 --num-heads 2 --layers 2 ";
  const auto drawn = [&](const std::string& against, const std::string& file) {
    const Ran ran = run({"figure", "--random", "--d-model", "8", "--num-heads", "2", "--layers", "2", "--view",
                         "compare", "--layer", "1", "--against", against, "-o", file});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return *read_file(file);
  };
  EXPECT_NE(drawn(small, same), drawn(small + "--text 小猫请李雷帮我订了去北京的机票", other));
  const Ran ran = run(figure({"--view", "compare", "--off", "0.1", "-o", edits}));
  EXPECT_EQ(ran.status, 0) << "A is the same question without edits: " << ran.err;
}

TEST(FigureCommand, WithoutASourceOfItsOwnAIsAskedOfTheSameModel) {
  const Folder folder;
  const auto drawn = [&](const char* view, const std::string& against) {
    const std::string file = (folder / "a.svg").string();
    const Ran ran = run({"figure", "shipped:decoder", "--text", "我请李雷帮我看了最好的", "--view", view, "--against",
                         against, "-o", file});
    EXPECT_EQ(ran.status, 0) << ran.err;
    return *read_file(file);
  };
  for (const char* view : {"patch", "compare"})
    EXPECT_EQ(drawn(view, "--text 我请李雷帮我喝了最好的"),
              drawn(view, "shipped:decoder --text 我请李雷帮我喝了最好的"));
}

TEST(FigureCommand, AMatrixIsDrawnByItsName) {
  const Folder folder;
  const auto drawn = [&](Strings words) {
    const std::string file = (folder / "m.svg").string();
    words.insert(words.begin(), {"--view", "matrix", "-o", file});
    const Ran ran = run(figure(words));
    EXPECT_EQ(ran.status, 0) << ran.err;
    return *read_file(file);
  };
  const std::string query = drawn({"--matrix", "q", "--head", "1"});
  EXPECT_EQ(query, drawn({"--matrix", "encoder.0.self.1.query"})) << "as the JSON of explain names it";
  EXPECT_EQ(query, drawn({"--matrix", "head.query", "--head", "1"})) << "as a lesson does";
  EXPECT_NE(query, drawn({"--matrix", "q"}));
  EXPECT_NE(query, drawn({"--matrix", "q", "--head", "1", "--row", "2", "--column", "3"}));
  const auto wrong = [&](Strings words) {
    words.insert(words.begin(), {"-o", (folder / "no.svg").string()});
    return refused(figure(words));
  };
  EXPECT_TRUE(contains(wrong({"--view", "matrix"}), "--view matrix: expected --matrix NAME, found none"));
  EXPECT_TRUE(contains(wrong({"--view", "matrix", "--matrix", "W_X"}),
                       "--matrix: expected a name that explain prints, as W_Q or encoder.0.self.0.weights, found W_X"));
  EXPECT_TRUE(contains(wrong({"--view", "matrix", "--matrix", "q", "--row", "77"}), "figure: row: expected 0 to"));
  EXPECT_TRUE(contains(wrong({"--matrix", "q"}), "--matrix: expected --view matrix, found --view heads"));
  EXPECT_TRUE(contains(wrong({"--view", "steps", "--row", "1"}), "--row: expected --view matrix"));
}

TEST(FigureCommand, HeadsStandAsNamed) {
  const Folder folder;
  const auto drawn = [&](const std::string& heads) {
    const std::string file = (folder / "heads.svg").string();
    EXPECT_EQ(run(figure({"--view", "glance", "--heads", heads, "-o", file})).status, 0);
    return *read_file(file);
  };
  EXPECT_NE(drawn("0.1,0.0"), drawn("0.0,0.1"));
  EXPECT_EQ(drawn("0.0,0.1,0.0"), drawn("0.*"));
}

TEST(FigureCommand, HeadsOfAFlowAreNamedAsThoseSwitchedOff) {
  const Folder folder;
  const std::string one = (folder / "one.svg").string(), all = (folder / "all.svg").string();
  EXPECT_EQ(run(figure({"--view", "flow", "--heads", "0.1", "-o", one})).status, 0);
  EXPECT_EQ(run(figure({"--view", "flow", "--heads", "0.*", "--threshold", "0", "-o", all})).status, 0);
  EXPECT_GT(read_file(all)->size(), read_file(one)->size());
}

TEST(FigureCommand, LayersAreChosen) {
  const Folder folder;
  const auto drawn = [&](Strings words, const std::string& name) {
    words.insert(words.begin(), "figure");
    words.insert(words.end(), {"--view", "glance", "--layers", "4", "-o", (folder / name).string()});
    const Ran ran = run(words);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return *read_file(folder / name);
  };
  const std::string all = drawn({}, "all.svg"), two = drawn({"--only-layers", "1,3"}, "two.svg");
  EXPECT_LT(two.size(), all.size());
  EXPECT_EQ(drawn({"--only-layers", "0-3"}, "named.svg"), all);
  EXPECT_LT(drawn({"--maps", "rollout", "--only-layers", "3"}, "one.svg").size(),
            drawn({"--maps", "rollout"}, "rollout.svg").size());
  EXPECT_TRUE(contains(refused(figure({"--only-layers", "9", "-o", (folder / "x.svg").string()})),
                       "--only-layers: expected layers from 0 to "));
  EXPECT_TRUE(contains(refused(figure({"--view", "head", "--only-layers", "0", "-o", (folder / "x.svg").string()})),
                       "--only-layers: expected --view heads or glance"));
}

TEST(FigureCommand, ManyWordsThatAreRefusedAreNotAllRepeated) {
  std::string words = "a";
  for (int i = 0; i < 2000; ++i) words += " 词";
  EXPECT_LT(refused(figure({"--view", "compare", "--against", words, "-o", "x.svg"})).size(), 500u);
  Strings many = figure({"-o", "x.svg"});
  many.insert(many.end(), 2000, "词");
  const std::string error = refused(many);
  EXPECT_LT(error.size(), 500u);
  EXPECT_TRUE(error.ends_with("… (see --help)\n")) << error;
}

TEST(FigureCommand, AgainstIsRefusedWhereNothingIsCompared) {
  const Folder folder;
  const std::string error =
      refused(figure({"--view", "head", "--against", "--text 'He sees'", "-o", (folder / "x.svg").string()}));
  EXPECT_TRUE(contains(error, "--against: expected --view compare, changes or patch, found --view head")) << error;
  EXPECT_TRUE(folder.names().empty());
}

TEST(FigureCommand, ACaptionStandsBesideTheFigure) {
  const Folder folder;
  const Ran ran = run(figure({"--no-caption", "-o", (folder / "x.pdf").string()}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto caption = read_file(folder / "x.txt");
  ASSERT_TRUE(caption);
  EXPECT_TRUE(contains(*caption, "mask: ")) << *caption;
}

TEST(FigureCommand, TakesAFontThatIsThere) {
  const Folder folder;
  const auto drawn = [&](Strings words) {
    words.insert(words.end(), {"--view", "head", "--text", "He sees her", "-o", (folder / "x.svg").string()});
    const Ran ran = run(figure(words));
    EXPECT_EQ(ran.status, 0) << ran.err;
    return *read_file(folder / "x.svg");
  };
  EXPECT_NE(drawn({}), drawn({"--font", "DejaVu Serif"}));
  const std::string file = (folder / "x.svg").string();
  EXPECT_TRUE(contains(refused(figure({"--font", "No Such Family", "-o", file})), "--font: expected a font file, or"));
  EXPECT_TRUE(contains(refused(figure({"--font", file, "-o", file})), "--font: expected an outline font"));
}

}  // namespace
}  // namespace headlight
