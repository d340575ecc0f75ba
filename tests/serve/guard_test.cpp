#include "serve/guard.hpp"

#include <gtest/gtest.h>

#include <set>

namespace fathom::serve {
namespace {

const GuardRules kRules{{"127.0.0.1:8080", "localhost:8080"}, true, "0123456789abcdefghijkl"};

Credentials good() { return {"GET", {"127.0.0.1:8080"}, {}, {}, {kRules.key}}; }

TEST(Guard, TheKeyOpensTheDataAndNothingElseDoes) {
  EXPECT_EQ(judge_data(kRules, good()), Verdict::allowed);
  for (const std::string& key : {std::string(), std::string("0123456789abcdefghijkX"), kRules.key.substr(0, 21),
                                 kRules.key + "m", std::string(22, '\0')}) {
    Credentials wrong = good();
    wrong.keys = {key};
    EXPECT_EQ(judge_data(kRules, wrong), Verdict::forbidden) << key;
  }
  Credentials none = good();
  none.keys.clear();
  EXPECT_EQ(judge_data(kRules, none), Verdict::forbidden);
  EXPECT_EQ(judge_page(kRules, none), Verdict::allowed);
  Credentials twice = good();
  twice.keys.push_back(kRules.key);
  EXPECT_EQ(judge_data(kRules, twice), Verdict::forbidden);
}

TEST(Guard, OneHostThatIsOurs) {
  for (const std::vector<std::string>& hosts :
       {std::vector<std::string>{}, {"evil.example:8080"}, {"127.0.0.1"}, {"127.0.0.1:8080", "127.0.0.1:8080"}}) {
    Credentials wrong = good();
    wrong.hosts = hosts;
    EXPECT_EQ(judge_page(kRules, wrong), Verdict::forbidden);
  }
}

TEST(Guard, OtherOriginsAndSitesAreRefused) {
  Credentials own = good();
  own.origins = {"http://localhost:8080"};
  own.fetch_sites = {"same-origin"};
  EXPECT_EQ(judge_data(kRules, own), Verdict::allowed);
  for (const std::string origin : {"http://evil.example", "null", "http://127.0.0.1:9999", "file://"}) {
    Credentials wrong = good();
    wrong.origins = {origin};
    EXPECT_EQ(judge_data(kRules, wrong), Verdict::forbidden) << origin;
  }
  for (const std::string site : {"cross-site", "same-site", "x"}) {
    Credentials wrong = good();
    wrong.fetch_sites = {site};
    EXPECT_EQ(judge_data(kRules, wrong), Verdict::forbidden) << site;
  }
}

TEST(Guard, OnlyGetAndPost) {
  for (const std::string method : {"OPTIONS", "PUT", "DELETE", "HEAD", "TRACE"}) {
    Credentials wrong = good();
    wrong.method = method;
    EXPECT_EQ(judge_data(kRules, wrong), Verdict::wrong_method) << method;
  }
}

TEST(Guard, OnAUnixSocketTheKeyStillCounts) {
  GuardRules rules = kRules;
  rules.check_hosts = false;
  Credentials proxied = good();
  proxied.hosts = {"portal.example"};
  EXPECT_EQ(judge_data(rules, proxied), Verdict::allowed);
  proxied.origins = {"https://portal.example"};
  EXPECT_EQ(judge_data(rules, proxied), Verdict::allowed);
  proxied.origins = {"https://evil.example"};
  EXPECT_EQ(judge_data(rules, proxied), Verdict::forbidden);
}

TEST(Guard, KeysAreLongAndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const auto key = make_key();
    ASSERT_TRUE(key.ok());
    EXPECT_EQ(key->size(), kShortestKey);
    EXPECT_EQ(key->find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
              std::string::npos);
    seen.insert(*key);
  }
  EXPECT_EQ(seen.size(), 100U);
}

}  // namespace
}  // namespace fathom::serve
